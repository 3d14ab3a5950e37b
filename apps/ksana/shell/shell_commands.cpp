#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "apps/ksana/commands.hpp"
#include "apps/ksana/shell/completion_table.hpp"
#include "apps/ksana/shell/man_page.hpp"
#include "apps/ksana/toolkit/output_file.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

int Complete(const Arguments& arguments, const Process& process, Output& output) {
    const std::vector<Command> commands = AllCommands(process);
    const std::string& shell = arguments.words().at(0);
    if (shell == "bash") {
        output.out += BashCompletion(commands);
    } else if (shell == "zsh") {
        output.out += ZshCompletion(commands);
    } else if (shell == "fish") {
        output.out += FishCompletion(commands);
    } else {
        return Fail({Code::kInvalidArgument, fmt::format("there is no completion for \"{}\"; there "
                                                         "is one for bash, zsh and fish",
                                                         Printable(Excerpt(shell, 80)))},
                    output);
    }
    return kExitOk;
}

Result<void> WriteAll(const std::vector<ManPage>& pages, const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
        return Error(Code::kInternal,
                     fmt::format("cannot make {}: {}", Printable(folder), error.message()));
    }
    for (const ManPage& page : pages) {
        const std::string path = fmt::format("{}/{}.1", folder, page.name);
        KSANA_TRY(OutputFile file, OutputFile::Create(path, true));
        KSANA_TRY_VOID(file.Write(page.text));
        KSANA_TRY_VOID(file.Commit());
        // OutputFile restricts a file to its owner; a manual is for all users.
        std::filesystem::permissions(path, std::filesystem::perms(0644), error);
    }
    return {};
}

int Man(const Arguments& arguments, const Process& process, Output& output) {
    const std::vector<ManPage> pages = ManPages(AllCommands(process));
    const std::string& folder = arguments.Get("all");
    if (!folder.empty()) {
        if (!arguments.words().empty()) {
            return Fail({Code::kInvalidArgument, "--all writes every page: name no command"},
                        output);
        }
        if (const auto written = WriteAll(pages, folder); !written) {
            return Fail(written.error(), output);
        }
        output.err += fmt::format("wrote {} pages to {}\n", pages.size(), Printable(folder));
        return kExitOk;
    }
    std::string name = "ksana";
    if (!arguments.words().empty()) name += "-" + arguments.words()[0];
    const auto page = std::ranges::find(pages, name, &ManPage::name);
    if (page == pages.end()) {
        std::vector<std::string_view> known;
        for (const ManPage& one : pages) known.push_back(one.name);
        const auto meant = Nearest(name, known);
        const std::string word = Printable(Excerpt(name.substr(6), 80));
        return Fail(
            {Code::kNotFound, fmt::format("there is no page of \"{}\"{}", word,
                                          meant && meant->size() > 6
                                              ? fmt::format("; did you mean {}?", meant->substr(6))
                                              : "")},
            output);
    }
    output.out += page->text;
    return kExitOk;
}

constexpr std::string_view kCompletionDetails =
    "Once for a session, or for ever:\n"
    "  bash  source <(ksana completion bash)\n"
    "        ksana completion bash > /etc/bash_completion.d/ksana\n"
    "  zsh   source <(ksana completion zsh)          (after compinit)\n"
    "        ksana completion zsh > \"${fpath[1]}/_ksana\"\n"
    "  fish  ksana completion fish > ~/.config/fish/completions/ksana.fish\n\n"
    "Names of jobs and other things come from the server, which is given two\n"
    "seconds; without one they are not offered.\n";

constexpr std::string_view kManDetails =
    "Without COMMAND the page of the program, with one (the first word: job, cron,\n"
    "server) the page of that. To read it:\n"
    "  ksana man job | man -l -\n";

}  // namespace

std::vector<Command> ShellCommands(const Process& process) {
    return {{"completion",
             "bash|zsh|fish",
             "Prints a script by which a shell completes commands",
             kCompletionDetails,
             1,
             {},
             [&process](const Arguments& arguments, Output& output) {
                 return Complete(arguments, process, output);
             }},
            {"man",
             "[COMMAND]",
             "Prints the manual, for man(1)",
             kManDetails,
             0,
             {{"all", '\0', "FOLDER", "writes every page as a file there", ""}},
             [&process](const Arguments& arguments, Output& output) {
                 return Man(arguments, process, output);
             },
             2}};
}

}  // namespace ksana::app
