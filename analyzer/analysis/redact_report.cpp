// Every text of a report goes through here by its kind: a path, or words that may hold paths and names. The report is
// made before: what is system code, or which ranks share a host, is decided by the real names.
#include "analysis/redact_report.h"

#include "platform/redaction.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <variant>

namespace plumb {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Replaces `name` where it stands as a word of its own.
void replace_word(std::string& text, std::string_view name, std::string_view alias) {
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
        const size_t end = at + name.size();
        if ((at > 0 && is_word(text[at - 1])) || (end < text.size() && is_word(text[end]))) {
            at = end;
            continue;
        }
        text.replace(at, name.size(), alias);
        at += alias.size();
    }
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
}

class Redaction {
  public:
    void host(const std::string& name) {
        if (name.empty() || names_.contains(name))
            return;
        const std::string alias = fmt::format("host-{}", ++hosts_);
        names_[name] = alias;
        if (const size_t dot = name.find('.'); dot != std::string::npos && dot > 0) // node17.cluster.example
            names_.emplace(name.substr(0, dot), alias);
    }

    // The path's file name takes its place in all texts, and so does an alias of the user in whose home it lies.
    void known_path(const std::string& path) {
        if (path.find('/') == std::string::npos || !paths_.insert(path).second)
            return;
        for (const std::string_view homes : {"/home/", "/Users/"}) {
            if (!path.starts_with(homes))
                continue;
            const std::string user = path.substr(homes.size(), path.find('/', homes.size()) - homes.size());
            if (!user.empty())
                names_.emplace(user, "user");
        }
    }

    void settle() {
        for (const std::string& path : paths_)
            if (std::string name = platform::file_name_of(path); name.size() < path.size())
                replacements_.emplace_back(path, std::move(name));
        std::ranges::stable_sort(replacements_, std::greater(), [](const auto& pair) { return pair.first.size(); });
    }

    void path(std::string& text) const { text = platform::file_name_of(text); }

    void words(std::string& text) const {
        if (text.find('/') != std::string::npos) {
            for (const auto& [path, name] : replacements_)
                replace_all(text, path, name);
            text = platform::without_folders(std::move(text));
        }
        for (const auto& [name, alias] : names_)
            replace_word(text, name, alias);
    }

    std::string alias_of(const std::string& host) const {
        const auto found = names_.find(host);
        return found == names_.end() ? host : found->second;
    }

  private:
    size_t hosts_ = 0;
    std::map<std::string, std::string> names_; // of hosts and users
    std::set<std::string> paths_;
    std::vector<std::pair<std::string, std::string>> replacements_; // the longest first
};

// Calls visit.path or visit.words with every text of the report that can hold one.
template <class Visit> void visit(model::SourceFrame& frame, Visit& visitor) {
    visitor.path(frame.file);
    visitor.path(frame.module);
    visitor.words(frame.function); // "NAME+0x12" may begin with a path
}

template <class Visit> void visit(Value& value, Visit& visitor) {
    if (auto* text = std::get_if<std::string>(&value))
        visitor.words(*text);
    else if (auto* list = std::get_if<std::vector<std::string>>(&value))
        for (std::string& text : *list)
            visitor.words(text);
}

template <class Visit> void visit(std::map<std::string, Value>& values, Visit& visitor) {
    for (auto& [key, value] : values)
        visit(value, visitor);
}

template <class Visit> void visit(std::vector<Advice>& all, Visit& visitor) {
    for (Advice& advice : all)
        for (std::string* text : {&advice.what, &advice.how, &advice.command})
            visitor.words(*text);
}

template <class Visit> void visit(Location& location, Visit& visitor) {
    visitor.path(location.file);
    visitor.path(location.module);
    visitor.path(location.inlined_from);
    visitor.words(location.function);
}

template <class Visit> void visit(Finding& finding, Visit& visitor) {
    for (std::string* text : {&finding.title, &finding.cost.how, &finding.gain.how, &finding.subject.name})
        visitor.words(*text);
    for (Location& location : finding.where)
        visit(location, visitor);
    visit(finding.subject.details, visitor);
    visit(finding.evidence, visitor);
    visit(finding.advice, visitor);
}

template <class Visit> void visit(AccessLine& line, Visit& visitor) {
    visit(line.frame, visitor);
    visitor.path(line.leaf_module);
    visitor.words(line.leaf_function);
    for (AccessObject& object : line.objects) {
        visitor.words(object.data.name);
        visitor.path(object.data.declared);
        visitor.words(object.cause.why);
        visit(object.cause.advice, visitor);
    }
}

template <class Visit> void visit(CallTreeNode& node, Visit& visitor) {
    visitor.words(node.name);
    visitor.path(node.module);
    for (CallTreeNode& child : node.children)
        visit(child, visitor);
}

template <class Visit> void visit(Report& report, Visit& visitor) {
    for (std::vector<AccountLine>* lines : {&report.account.lines, &report.account.wall})
        for (AccountLine& line : *lines) {
            visitor.words(line.detail);
            for (AccountLine::Place& place : line.places)
                visit(place.frame, visitor);
        }
    visit(report.call_tree, visitor);
    for (Metric& metric : report.metrics)
        visitor.words(metric.how);
    for (Finding& finding : report.findings)
        visit(finding, visitor);
    for (HotLine& line : report.hot_lines) {
        visit(line.frame, visitor);
        visitor.words(line.leaf_function);
        visitor.path(line.leaf_module);
    }
    for (LibraryShare& library : report.libraries)
        visitor.path(library.module);
    for (SampledEventRow& row : report.sampled_events)
        for (Location& line : row.lines)
            visit(line, visitor);
    for (HeapLine& line : report.heap_lines)
        visit(line.frame, visitor);
    for (AccessLine& line : report.accesses)
        visit(line, visitor);
    for (MemoryObjectRow& row : report.memory.objects)
        for (std::string* text : {&row.name, &row.subject, &row.place})
            visitor.words(*text);
    for (MpiSummary& job : report.mpi)
        for (MpiSiteLine& site : job.sites) {
            visit(site.frame, visitor);
            for (model::SourceFrame& caller : site.callers)
                visit(caller, visitor);
        }
    for (MpiSummary& job : report.mpi) {
        visitor.words(job.library);
        visit(job.cycle_frame, visitor);
        if (job.expectation)
            visitor.words(job.expectation->why_not);
    }
    for (model::Evidence& evidence : report.evidence)
        for (std::string* text : {&evidence.why, &evidence.enable})
            visitor.words(*text);
    visitor.words(report.own_cost.how);
}

// The paths that texts were made of.
struct Collector {
    Redaction& redaction;
    void path(const std::string& path) const {
        redaction.known_path(path);
        if (const size_t colon = path.rfind(':'); colon != std::string::npos) // "file:line"
            redaction.known_path(path.substr(0, colon));
    }
    void words(const std::string&) const {}
};

void collect(Redaction& redaction, Report& report, const model::Run& run, const std::vector<std::string>& paths) {
    for (const model::Host& host : run.hosts)
        redaction.host(host.name);
    for (const std::string& path : paths)
        redaction.known_path(path);
    redaction.known_path(run.directory);
    for (const model::Process& process : run.processes) {
        redaction.known_path(process.executable);
        for (const model::Module& module : process.modules)
            redaction.known_path(module.path);
        if (process.mpi)
            redaction.known_path(process.mpi->file);
    }
    Collector collector{redaction};
    visit(report, collector);
    redaction.settle();
}

} // namespace

void forget_arguments(model::Run& run) {
    run.command = platform::without_arguments(run.command);
    for (model::Process& process : run.processes)
        process.arguments.clear();
}

void redact_report(Report& report, model::Run& run, const std::vector<std::string>& paths) {
    Redaction redaction;
    collect(redaction, report, run, paths);
    visit(report, redaction);
    report.evidence.push_back({"redaction", model::Evidence::State::limited,
                               "arguments, host and user names, folders of files and source lines are omitted", ""});
    for (NodeRow& row : report.memory.nodes)
        row.host = redaction.alias_of(row.host);
    if (report.noise) {
        report.noise->machine.name = redaction.alias_of(report.noise->machine.name);
        for (NoiseNodeLoss& node : report.noise->nodes)
            node.host = redaction.alias_of(node.host);
    }
    run.directory = "RUN";
    for (model::Host& host : run.hosts)
        host.name = redaction.alias_of(host.name);
    for (std::string& note : run.notes)
        redaction.words(note);
    for (model::Evidence& evidence : run.evidence)
        redaction.words(evidence.why);
    for (model::Process& process : run.processes) {
        process.host = redaction.alias_of(process.host);
        redaction.path(process.executable);
        for (model::Thread& thread : process.threads)
            redaction.words(thread.name);
    }
    for (model::MpiJob& job : run.mpi_jobs) {
        job.name = job.name.empty() ? "" : platform::job_alias(job.name);
        redaction.words(job.library_version);
        for (model::MpiCommRow& comm : job.comms)
            redaction.words(comm.name);
    }
}

} // namespace plumb
