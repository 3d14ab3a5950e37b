#include "apps/ksana/job/job_graph.hpp"

#include <fmt/core.h>

#include <map>
#include <set>

#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

// Returns "", "wait", "on failure", …: what an edge says beyond the usual.
std::string LabelOf(const Json& edge) {
    if (edge.TextAt("/kind") == "depends_on") {
        const std::string on_failure = edge.TextAt("/on_failure");
        return on_failure == "skip" ? "needs" : "needs, else " + on_failure;
    }
    const std::string on = edge.TextAt("/on");
    std::string label = on == "success" ? "then" : "then, on " + on;
    if (edge.TextAt("/join") == "each") label += ", each";
    return label;
}

// Ids may hold any of - _ . : which Mermaid does not take as names, so jobs are numbered.
std::map<std::string, std::size_t> NumbersOf(const Json& graph) {
    std::map<std::string, std::size_t> numbers;
    for (const Json& job : graph.At("/jobs").Items()) {
        numbers.emplace(job.TextAt("/id"), numbers.size());
    }
    return numbers;
}

// Prints a job and below it those that need it; a job that was printed before is only named.
class TextWriter {
  public:
    explicit TextWriter(const Json& graph) {
        for (const Json& edge : graph.At("/edges").Items()) {
            const std::string to = edge.TextAt("/to");
            below_[edge.TextAt("/from")].emplace_back(to, LabelOf(edge));
            needy_.insert(to);
        }
        for (const Json& job : graph.At("/jobs").Items()) {
            const std::string id = job.TextAt("/id");
            if (!job.At("/enabled").True()) paused_.insert(id);
            if (!needy_.contains(id)) Print(id);
        }
    }
    std::string Take() { return std::move(text_); }

  private:
    struct Line {
        std::string id;
        std::string label;
        std::size_t depth = 0;
    };

    // Without recursion: a chain may be long.
    void Print(const std::string& first) {
        std::vector<Line> open = {{first, "", 0}};
        while (!open.empty()) {
            const Line line = std::move(open.back());
            open.pop_back();
            const bool known = !printed_.insert(line.id).second;
            const auto below = below_.find(line.id);
            const bool cut = known && below != below_.end();
            text_ += fmt::format("{}{}{}{}{}\n", std::string(2 * line.depth, ' '),
                                 line.depth > 0 ? "└ " : "", Printable(line.id),
                                 line.label.empty() ? "" : fmt::format(" ({})", line.label),
                                 cut ? " …" : "");
            if (paused_.contains(line.id)) text_.insert(text_.size() - 1, " [paused]");
            if (known || below == below_.end()) continue;
            for (auto child = below->second.rbegin(); child != below->second.rend(); ++child) {
                open.push_back({child->first, child->second, line.depth + 1});
            }
        }
    }

    std::map<std::string, std::vector<std::pair<std::string, std::string>>> below_;
    std::set<std::string> needy_;
    std::set<std::string> paused_;
    std::set<std::string> printed_;
    std::string text_;
};

Result<int> ShowGraph(ApiSession& session) {
    const bool one = !session.arguments.words().empty();
    KSANA_TRY(const auto answer, session.api.Get(one ? ApiPath({"jobs", session.Word(0), "graph"})
                                                     : ApiPath({"graph"})));
    const Json& graph = answer.json;
    const std::string& format = session.arguments.Get("output");
    if (format == "mermaid") {
        session.output.out += GraphToMermaid(graph);
    } else if (format == "dot") {
        session.output.out += GraphToDot(graph);
    } else if (format == "json") {
        session.output.out += graph.Pretty() + "\n";
    } else {
        session.output.out += GraphToText(graph);
    }
    if (graph.At("/jobs").Items().empty()) {
        session.Note("No job depends on another or follows another.");
    }
    if (!graph.At("/complete").True()) session.Note("There are more jobs than are shown.");
    return kExitOk;
}

}  // namespace

std::string GraphToText(const Json& graph) { return TextWriter(graph).Take(); }

std::string GraphToMermaid(const Json& graph) {
    const auto numbers = NumbersOf(graph);
    std::string text = "flowchart LR\n";
    for (const Json& job : graph.At("/jobs").Items()) {
        const std::string id = job.TextAt("/id");
        text += fmt::format("    j{}[\"{}\"]\n", numbers.at(id), Printable(id));
    }
    for (const Json& edge : graph.At("/edges").Items()) {
        const bool after = edge.TextAt("/kind") == "after";
        text += fmt::format("    j{} {}|{}| j{}\n", numbers.at(edge.TextAt("/from")),
                            after ? "-->" : "-.->", LabelOf(edge), numbers.at(edge.TextAt("/to")));
    }
    return text;
}

std::string GraphToDot(const Json& graph) {
    std::string text = "digraph jobs {\n    rankdir=LR;\n    node [shape=box];\n";
    for (const Json& job : graph.At("/jobs").Items()) {
        text += fmt::format("    \"{}\"{};\n", Printable(job.TextAt("/id")),
                            job.At("/enabled").True() ? "" : " [style=dashed]");
    }
    for (const Json& edge : graph.At("/edges").Items()) {
        const bool after = edge.TextAt("/kind") == "after";
        text += fmt::format("    \"{}\" -> \"{}\" [label=\"{}\"{}];\n",
                            Printable(edge.TextAt("/from")), Printable(edge.TextAt("/to")),
                            LabelOf(edge), after ? "" : ", style=dashed");
    }
    return text + "}\n";
}

std::vector<Command> JobGraphCommands(const Process& process) {
    return {
        {.path = "job graph",
         .words = "[ID]",
         .summary = "Shows which jobs depend on each other or follow each other",
         .details = "All such jobs, or those that have to do with one. See docs/dependencies.md.\n",
         .options = {{"output",
                      'o',
                      "FORMAT",
                      "how it is shown",
                      "text",
                      {"text", "mermaid", "dot", "json"}}},
         .run = MakeApiCommand(process, ShowGraph),
         .optional_words = 1,
         .asks_server = true},
    };
}

}  // namespace ksana::app
