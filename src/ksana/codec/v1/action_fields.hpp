#pragma once

#include "ksana/codec/json/json_form.hpp"
#include "ksana/model/job/action.hpp"

// JSON members of the actions of a job.

namespace ksana::codec {

template <>
struct FieldsOf<model::HttpAction> {
    static constexpr SchemaDoc kSchema{
        .name = "HttpAction",
        .means = "Calls a URL. URL, header values and body may hold {{placeholders}}."};

    template <class V>
    static void Visit(V& v) {
        v("method", &model::HttpAction::method, "The method of the request.");
        v.Required("url", &model::HttpAction::url,
                   Doc("Where the request goes.").Example("https://example.com/report"));
        v("headers", &model::HttpAction::headers, "Headers of the request.");
        v("body", &model::HttpAction::body, "The body of the request.");
        v.Rare("sign_as", &model::HttpAction::sign_as,
               "Code of a type with security aksk: the call is signed with its keys, as its "
               "callbacks are. Absent: it is not signed.");
    }
};

template <>
struct FieldsOf<model::CommandLimits> {
    static constexpr SchemaDoc kSchema{
        .name = "CommandLimits",
        .means = "Resource limits of a command. Absent: those of the server or worker."};

    using Limits = model::CommandLimits;

    template <class V>
    static void Visit(V& v) {
        v("cpu", &Limits::cpu, "Processor time of each process, in whole seconds.");
        v("memory", &Limits::memory, Doc("Address space of each process, in bytes.").AtLeast(0));
        v("files", &Limits::files, Doc("Open files of each process.").AtLeast(0));
        v("processes", &Limits::processes,
          Doc("Processes of its user, together; not for root.").AtLeast(0));
        v("file_size", &Limits::file_size,
          Doc("Size of a file that it writes, in bytes.").AtLeast(0));
        v("core", &Limits::core, Doc("Size of a core dump, in bytes; 0: none.").AtLeast(0));
    }
};

template <>
struct FieldsOf<model::CommandAction> {
    static constexpr SchemaDoc kSchema{
        .name = "CommandAction",
        .means =
            "Runs a program on a server or worker that allows commands. Arguments, values of "
            "variables and the working directory may hold {{placeholders}}."};

    template <class V>
    static void Visit(V& v) {
        v.Required("argv", &model::CommandAction::argv,
                   Doc("The program and its arguments; no shell reads them unless `shell` is true.")
                       .Example("[\"/usr/bin/backup\", \"--all\"]"));
        v("shell", &model::CommandAction::shell,
          "true: the first of argv is a line for /bin/sh, the others are its $1, $2 and so on.");
        v("environment", &model::CommandAction::environment,
          "Variables of the program, beside those that it inherits.");
        v("inherit", &model::CommandAction::inherit,
          "Variables taken from the server or worker, beside PATH, HOME, USER, LOGNAME, SHELL, "
          "LANG, LC_ALL, LC_CTYPE, TZ and TMPDIR.");
        v("working_directory", &model::CommandAction::working_directory,
          "Where the program is started; empty: where the server or worker is.");
        v("user", &model::CommandAction::user,
          "User as which it runs: a name or number. Needs a server or worker that runs as root.");
        v("group", &model::CommandAction::group,
          "Group as which it runs: a name or number; empty: that of the user.");
        v("limits", &model::CommandAction::limits, "Resource limits of the program.");
        v("permanent_exit_codes", &model::CommandAction::permanent_exit_codes,
          "Exit codes after which the run is not tried again.");
        v("output_limit", &model::CommandAction::output_limit,
          Doc("Bytes of output that are kept: half from the beginning, half from the end.")
              .Between(model::kMinOutputLimit, model::kMaxOutputLimit));
    }
};

template <>
struct FieldsOf<model::HandlerAction> {
    static constexpr SchemaDoc kSchema{
        .name = "HandlerAction",
        .means = "Calls a C++ handler by its name, in a program or worker that has it."};

    template <class V>
    static void Visit(V& v) {
        v.Required("name", &model::HandlerAction::handler, "Name of the handler.");
        v.Json("input", &model::HandlerAction::input, "What the handler gets: any JSON.");
    }
};

template <>
struct FieldsOf<model::QueueAction> {
    static constexpr SchemaDoc kSchema{
        .name = "QueueAction", .means = "Waits for an agent or worker that serves the type."};

    template <class V>
    static void Visit(V& v) {
        v.Required("type", &model::QueueAction::type, "Type of the runs.");
        v("category", &model::QueueAction::category,
          "Category of the runs; empty: that of the type.");
        v.Json("payload", &model::QueueAction::payload, "What the agent gets: any JSON.");
    }
};

}  // namespace ksana::codec
