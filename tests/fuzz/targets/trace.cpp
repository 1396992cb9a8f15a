// Trace files as they are, through reader, dump, builder and replay.
#include "target.h"

#include "replay/replay.h"
#include "run_checks.h"
#include "seeds.h"
#include "support/error.h"
#include "trace/build_run.h"
#include "trace/file/record_text.h"
#include "trace/file/records.h"

#include <cstring>

namespace plumb::fuzz {

using namespace trace;

namespace {

void dump(TraceReader& file) {
    StringTable strings;
    for_each_record(file, [&](const String& record, std::string_view text) { strings.add(record.id, text); });
    size_t lines = 0, length = 0;
    file.visit({.record =
                    [&](const RawRecord& raw) {
                        if (++lines > 64) // the formatting, not the amount of it
                            return;
                        const RecordLine line{raw.offset, raw.header.type, describe_record(raw.header.type), raw.bytes};
                        length += record_as_text(line, strings).size();
                        length += record_as_json(file.name(), line, strings).size();
                    },
                .chunk = {}});
    if (length < lines)
        std::abort();
}

} // namespace

void run_trace(Bytes bytes) {
    const auto input = std::as_bytes(bytes);
    try {
        // The same bytes once as they are and once as the other side's file: both accounts of the same processes.
        std::vector<std::byte> other(input.begin(), input.end());
        if (other.size() >= sizeof(FileHeader))
            reinterpret_cast<FileHeader*>(other.data())->writer ^= 3;
        std::vector<TraceReader> files;
        files.emplace_back("one", [input] { return open_memory(input); });
        files.emplace_back("other", [&other] { return open_memory(other); });
        dump(files[0]);
        model::Run run = build_run(files, nullptr);
        check_run(run);
        add_neighbours(run);
        replay::replay_mpi(run, {.threads = 1, .open = [&](const std::string& name) {
                               const std::span<const std::byte> bytes = name == "one" ? input : std::span<const std::byte>(other);
                               return TraceReader(name, [bytes] { return open_memory(bytes); });
                           }});
        check_jobs(run);
    } catch (const Error&) { // how unreadable input ends
    }
}

Seeds seeds_of_trace() {
    Seeds seeds;
    for (const auto& [name, bytes] : make_seeds())
        seeds.emplace_back(name, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    return seeds;
}

} // namespace plumb::fuzz
