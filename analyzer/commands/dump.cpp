// plumb dump: the raw records of a run or of one trace file, readable.
#include "commands/command.h"
#include "reports/complain.h"
#include "reports/words/utf8.h"
#include "support/error.h"
#include "trace/file/record_text.h"
#include "trace/file/records.h"
#include "trace/file/run_directory.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <set>

namespace plumb {

namespace {

using trace::RawChunk;
using trace::RawRecord;
using trace::RecordLine;
using trace::TraceReader;

struct DumpOptions {
    std::string path;
    std::string format = "text";
    std::vector<std::string> only;
    bool describe = false;
};

// Nobody reads on (plumb dump RUN | head): no error, but nothing more to do.
struct ReaderGone {};

struct WriteFailed {
    int error;
};

void write_line(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fputc('\n', stdout) != EOF)
        return;
    if (errno == EPIPE)
        throw ReaderGone();
    throw WriteFailed{errno};
}

void flush() {
    if (std::fflush(stdout) == 0)
        return;
    if (errno == EPIPE)
        throw ReaderGone();
    throw WriteFailed{errno};
}

std::set<std::string> names_of_types() {
    std::set<std::string> names;
    for (const auto& header : trace::header_descriptions())
        names.insert(header.name);
    names.erase("RecordHeader"); // part of every record
    for (const auto& record : trace::record_descriptions())
        names.insert(record.name);
    return names;
}

class Dump {
  public:
    explicit Dump(const DumpOptions& options) : options_(options), only_(options.only.begin(), options.only.end()) {}

    void file(TraceReader& file) {
        trace::StringTable strings; // first, since a text can stand in a later chunk than its id
        trace::for_each_record(file, [&](const trace::String& record, std::string_view text) {
            strings.add(record.id, text);
        });
        const auto header = std::as_bytes(std::span(&file.header(), 1));
        show(file, {0, 0, &trace::header_descriptions()[0], header}, strings);
        const auto record = [&](const RawRecord& raw) {
            show(file, {raw.offset, raw.header.type, trace::describe_record(raw.header.type), raw.bytes}, strings);
        };
        const auto chunk = [&](const RawChunk& raw) {
            const auto bytes = std::as_bytes(std::span(&raw.header, 1));
            show(file, {raw.offset, 0, &trace::header_descriptions()[1], bytes}, strings);
        };
        file.visit({.record = record, .chunk = chunk});
        flush();
        for (const std::string& note : file.notes())
            complain(note);
    }

  private:
    void show(const TraceReader& file, const RecordLine& line, const trace::StringTable& strings) {
        if (!only_.empty() && (!line.description || !only_.contains(line.description->name)))
            return;
        write_line(options_.format == "json" ? trace::record_as_json(file.name(), line, strings)
                                             : sanitised(trace::record_as_text(line, strings)));
    }

    const DumpOptions& options_;
    std::set<std::string> only_;
};

int dump_run(const DumpOptions& options, Dump& dump) {
    const trace::RunDirectory run = trace::list_run_directory(options.path);
    int status = 0;
    bool first = true;
    for (const auto* paths : {&run.node_traces, &run.process_traces})
        for (const std::string& path : *paths) {
            try {
                TraceReader file(path);
                if (options.format == "text")
                    write_line((first ? "# " : "\n# ") + sanitised(path));
                first = false;
                dump.file(file);
            } catch (const Error& error) { // the others may be whole
                flush();
                complain(error.what());
                status = error.exit_status();
            }
        }
    return status;
}

int dump(const DumpOptions& options) {
    if (options.path.empty() && !options.describe)
        throw Error("give the run directory or the trace file to dump, or --describe");
    const std::set<std::string> known = names_of_types();
    for (const std::string& type : options.only)
        if (!known.contains(type))
            throw Error(fmt::format("--only {}: there is no such record; the records are {}", type,
                                    fmt::join(known, ", ")));
    std::signal(SIGPIPE, SIG_IGN);
    try {
        if (options.describe)
            write_line(trace::describe_format());
        Dump dump(options);
        int status = 0;
        if (std::filesystem::is_directory(options.path)) {
            status = dump_run(options, dump);
        } else if (!options.path.empty()) {
            TraceReader file(options.path);
            dump.file(file);
        }
        flush();
        return status;
    } catch (const ReaderGone&) {
        return 0;
    } catch (const WriteFailed& failure) {
        throw Error(fmt::format("cannot write the records: {}", std::strerror(failure.error)));
    }
}

} // namespace

CommandAction declare_dump(CLI::App& subcommand) {
    const auto options = std::make_shared<DumpOptions>();
    subcommand.add_option("run", options->path, "Run directory, or one trace file of it")->type_name("RUN|FILE");
    subcommand.add_option("--format", options->format, "text: one line a record; json: one JSON object a line")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    subcommand.add_option("--only", options->only, "Print only records of these types (--describe lists them)")
        ->delimiter(',')
        ->type_name("TYPE,..");
    subcommand.add_flag("--describe", options->describe, "Print the documentation of the format by offset");
    return [options] { return dump(*options); };
}

} // namespace plumb
