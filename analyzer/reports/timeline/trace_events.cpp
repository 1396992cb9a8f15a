#include "reports/timeline/trace_events.h"

#include "replay/timeline.h"
#include "reports/json/document.h"
#include "reports/words/line_texts.h"
#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <set>

namespace plumb {

namespace {

const model::MpiComm* comm_of(const model::MpiProcess& mpi, uint32_t id) {
    const auto found = std::ranges::find(mpi.comms, id, &model::MpiComm::id);
    return id == 0 || found == mpi.comms.end() ? nullptr : &*found;
}

std::string name_of(const model::MpiComm& comm) {
    if (!comm.name.empty())
        return comm.name;
    return comm.world ? "MPI_COMM_WORLD" : comm.self ? "MPI_COMM_SELF" : fmt::format("{} of {}", model::name_of(comm.kind), comm.size);
}

class Writer {
  public:
    Writer(model::CallPaths& paths, std::FILE* stream) : paths_(paths), stream_(stream) {}

    bool began() const { return began_; }

    void rank(const replay::RankTimeline& timeline) {
        const model::Process& process = paths_.run().processes[timeline.process];
        const uint64_t kept = timeline.calls.size(), calls = std::max(kept, process.mpi->timeline_calls);
        name_lanes(timeline, process, kept, calls);
        const std::vector<std::string> sites = texts_of_sites(timeline.process, process);
        for (const replay::TimelineCall& call : timeline.calls) {
            // In microseconds, as the format wants them, with the nanoseconds behind the point.
            const uint64_t begin_ns = static_cast<uint64_t>(std::max<replay::Nanoseconds>(0, call.begin));
            const uint64_t length_ns = static_cast<uint64_t>(call.end - call.begin);
            begin_event();
            put("{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{}.{:03},\"dur\":{}.{:03},{}", timeline.process + 1, call.tid,
                begin_ns / 1000, begin_ns % 1000, length_ns / 1000, length_ns % 1000, sites[call.site]);
            if (call.peer >= 0)
                put(",\"rank\":{}", call.peer);
            put(",\"bytes\":{}}}}}", call.bytes);
        }
    }

    void end() {
        text_ += "\n]}\n";
        flush();
    }

  private:
    void begin_event() {
        if (text_.size() > kBufferBytes)
            flush();
        text_ += began_ ? ",\n" : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
        began_ = true;
    }

    template <class... Values> void put(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    }

    void put_name(const char* what, size_t pid, uint32_t tid, const Json& arguments) {
        begin_event();
        put("{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{}}}", pid, tid, what, json_text(arguments, -1));
    }

    void name_lanes(const replay::RankTimeline& timeline, const model::Process& process, uint64_t kept, uint64_t calls) {
        const size_t pid = timeline.process + 1;
        std::string name = fmt::format("rank {} {}", process.mpi->rank, process.name);
        if (paths_.run().hosts.size() > 1)
            name += " on " + process.host;
        if (timeline.job > 0)
            name += fmt::format(", job {}", timeline.job + 1);
        if (calls > kept)
            name += fmt::format(", the last {} of {} calls", kept, calls);
        put_name("process_name", pid, 0, {{"name", name}});
        put_name("process_sort_index", pid, 0, {{"sort_index", process.mpi->rank}});
        std::set<uint32_t> threads;
        for (const replay::TimelineCall& call : timeline.calls)
            threads.insert(call.tid);
        for (const model::Thread& thread : process.threads)
            if (threads.contains(thread.tid) && !thread.name.empty())
                put_name("thread_name", pid, thread.tid, {{"name", thread.name}});
    }

    // What all slices of a call site begin with, up to their own arguments.
    std::vector<std::string> texts_of_sites(size_t process_index, const model::Process& process) {
        std::vector<std::string> texts;
        for (const model::MpiSite& site : process.mpi->sites) {
            std::string text = fmt::format("\"name\":{},\"cat\":\"mpi\",\"args\":{{\"line\":{}", json_text(site.call, -1),
                                           json_text(frame_text(paths_.user_frame(process_index, site.path)), -1));
            if (const model::MpiComm* comm = comm_of(*process.mpi, site.comm))
                text += fmt::format(",\"on\":{}", json_text(name_of(*comm), -1));
            texts.push_back(std::move(text));
        }
        return texts;
    }

    void flush() {
        if (std::fwrite(text_.data(), 1, text_.size(), stream_) != text_.size() || std::fflush(stream_) != 0)
            throw Error(fmt::format("cannot write the timeline: {}", std::strerror(errno)));
        text_.clear();
    }

    static constexpr size_t kBufferBytes = 1 << 20;

    model::CallPaths& paths_;
    std::FILE* stream_;
    std::string text_;
    bool began_ = false;
};

} // namespace

void write_trace_events(model::CallPaths& paths, const replay::ReplayOptions& options, std::FILE* stream) {
    Writer writer(paths, stream);
    replay::visit_timelines(paths.run(), options, [&](const replay::RankTimeline& timeline) { writer.rank(timeline); });
    if (!writer.began())
        throw Error(fmt::format("{} holds no timeline: plumb run --timeline keeps the MPI calls one by one",
                                paths.run().directory));
    writer.end();
}

} // namespace plumb
