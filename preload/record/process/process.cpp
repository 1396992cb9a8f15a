#include "record/process/process.h"

#include "platform/os/files.h"
#include "platform/os/ids_and_clocks.h"
#include "platform/os/memory.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"
#include "record/process/file_quota.h"
#include "record/process/settings.h"
#include "record/process/threads.h"
#include "record/process/trace_writer.h"

#include <errno.h>

namespace plumb::shim {
namespace {

struct Recording { // lies in a page that is wiped in forked children
    std::atomic<uint32_t> on;
};
constexpr size_t kPageBytes = 64 * 1024; // the largest page in use

Recording* page = nullptr;
MappedTrace file;
uint32_t pid = 0;
std::atomic<uint32_t> string_ids{0};
std::atomic<uint32_t> ended{0};

// Set aside at the start, so that the end can be recorded even when the file could not grow.
constexpr uint32_t kLastChunkBytes = 512;
std::atomic<trace::ChunkHeader*> last_chunk{nullptr};

template <class Record> Record* append_at_end(const Guard& guard, trace::RecordType type, const Record& record) {
    if (Record* place = append(guard, type, record))
        return place;
    trace::ChunkHeader* chunk = last_chunk.exchange(nullptr, std::memory_order_relaxed);
    if (!chunk)
        return nullptr;
    guard.thread().chunk = chunk;
    return append(guard, type, record);
}
std::atomic<bool> confined{false};
bool was_recorded = false; // unlike `page` this is still true in a forked child

trace::StringId write_text(const Guard& guard, const char* text) { return write_string(guard, text, strlen(text)); }

trace::StringId write_command_line(const Guard& guard) {
    constexpr size_t room = 64 * 1024;
    auto* text = static_cast<char*>(allocate_pages(room, false));
    if (!text)
        return 0;
    long length = read_whole_file("/proc/self/cmdline", text, room);
    if (length > 0 && text[length - 1] == '\0')
        --length; // the arguments are separated by NUL, not ended by it
    const trace::StringId id = length > 0 ? write_string(guard, text, static_cast<size_t>(length)) : 0;
    release_pages(text, room);
    return id;
}

void write_process_start(const Guard& guard, const LaunchFacts& facts, bool forked, uint64_t time_ns) {
    trace::ProcessStart start = {};
    char path[4096];
    start.pid = pid;
    start.parent_pid = parent_process_id();
    start.time_ns = time_ns;
    if (read_link("/proc/self/exe", path, sizeof path) > 0)
        start.executable = write_text(guard, path);
    const bool redacted = settings.text(Setting::kRedact) != nullptr;
    if (!redacted)
        start.command_line = write_command_line(guard);
    if (!redacted && system_call(SYS_getcwd, word(path), sizeof path) > 0)
        start.working_directory = write_text(guard, path);
    start.rank = facts.rank;
    start.rank_count = facts.rank_count;
    start.local_rank = facts.local_rank;
    if (facts.launcher)
        start.launcher = write_text(guard, facts.launcher);
    start.flags = forked ? uint32_t{trace::kStartForked} : 0;
    append(guard, trace::RecordType::ProcessStart, start);
}

void silence_all_threads() {
    page->on.store(0, std::memory_order_relaxed);
    for (uint32_t i = 0; i < thread_state_count(); ++i)
        if (ThreadState* state = thread_state_at(i))
            state->live.store(0, std::memory_order_relaxed);
}

} // namespace

bool recording() { return page && page->on.load(std::memory_order_relaxed); }
MappedTrace& trace_file() { return file; }
uint32_t recorded_pid() { return pid; }
trace::StringId next_string_id() { return string_ids.fetch_add(1, std::memory_order_relaxed) + 1; }

int begin_recording(const char* run_directory, uint64_t limit_bytes, const LaunchFacts& facts, bool forked) {
    const uint64_t begin_ns = now_ns();
    if (!page && !(page = static_cast<Recording*>(allocate_pages(kPageBytes, true))))
        return -ENOMEM;
    pid = process_id();
    reset_file_quotas();
    string_ids.store(0, std::memory_order_relaxed);
    ended.store(0, std::memory_order_relaxed);
    if (const int error = file.create(run_directory, pid, process_start_ticks("/proc"), limit_bytes, forked); error < 0)
        return error;
    last_chunk.store(file.allot(kLastChunkBytes, kLastChunkBytes, 0), std::memory_order_relaxed);
    was_recorded = true;
    page->on.store(1, std::memory_order_release);
    const Guard guard; // makes the calling thread a recorded one
    if (guard)
        write_process_start(guard, facts, forked, begin_ns);
    return 0;
}

bool forget_parent() {
    if (page)
        page->on.store(0, std::memory_order_relaxed);
    reset_thread_states();
    const bool recorded = was_recorded;
    was_recorded = false;
    return recorded;
}

bool runs_in_recorded_process() { return recording() && process_id() == pid; }

void end_recording(trace::EndKind kind, int32_t status) {
    if (!runs_in_recorded_process() || ended.exchange(1, std::memory_order_relaxed))
        return;
    // The last thread may have ended before it ends the process (pthread_exit in main).
    const bool thread_lives = this_thread != &ended_thread;
    if (!thread_lives)
        lend_state_to_ended_thread();
    {
        const Guard guard;
        if (guard) {
            if (thread_lives)
                write_thread_end(guard);
            trace::ProcessEnd end = {};
            end.time_ns = now_ns();
            end.kind = static_cast<uint32_t>(kind);
            end.status = status;
            append_at_end(guard, trace::RecordType::ProcessEnd, end);
        }
    }
    silence_all_threads();
    file.mark_closed(now_ns());
}

bool is_confined() { return confined.load(std::memory_order_relaxed); }

void become_confined(const char* why) {
    confined.store(true, std::memory_order_relaxed);
    if (!recording())
        return;
    file.stop_growing();
    {
        const Guard guard;
        if (guard)
            write_evidence(guard, "shim", trace::EvidenceState::limited, why, "");
    }
    silence_all_threads();
    was_recorded = false;
}

trace::ProcessEnd* end_before_exec(const Guard& guard) {
    trace::ProcessEnd end = {};
    end.time_ns = now_ns();
    end.kind = static_cast<uint32_t>(trace::EndKind::exec);
    trace::ProcessEnd* place = append_at_end(guard, trace::RecordType::ProcessEnd, end);
    file.mark_closed(end.time_ns);
    return place;
}

void resume_after_exec(trace::ProcessEnd* end) {
    if (end)
        std::atomic_ref<uint32_t>(end->kind).store(static_cast<uint32_t>(trace::EndKind::none),
                                                   std::memory_order_relaxed);
    file.mark_open();
}

} // namespace plumb::shim
