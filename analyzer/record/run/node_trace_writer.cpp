#include "record/run/node_trace_writer.h"

#include "platform/read_file.h"
#include "platform/redaction.h"
#include "platform/task_stat.h"
#include "support/error.h"

#include <plumb/machine.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint32_t kChunkBytes = 64u << 10;
constexpr uint64_t kAllocationStep = 256u << 10;
constexpr size_t kLongestString = 65000;
constexpr size_t kMostPrivatePaths = 4096;

uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace

uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }
uint64_t own_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }
uint64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

NodeTraceWriter::NodeTraceWriter(const std::string& path, uint64_t most_bytes, uint64_t reserve_bytes, bool redact)
    : reserve_(std::max(most_bytes, reserve_bytes)), limit_(most_bytes), redact_(redact) {
    fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ < 0)
        throw Error("cannot create " + path + ": " + strerror(errno));
    if (!allocate_up_to(kAllocationStep)) {
        const int error = errno;
        ::close(fd_);
        unlink(path.c_str());
        throw Error("cannot reserve " + std::to_string(kAllocationStep) + " bytes for " + path + ": " +
                    strerror(error) + "; use -o to choose a directory with more space");
    }
    void* place = MAP_FAILED;
    for (; place == MAP_FAILED && reserve_ >= kAllocationStep; reserve_ /= 2) { // a limit of address space (ulimit -v)
        place = mmap(nullptr, reserve_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
        if (place != MAP_FAILED)
            break;
    }
    if (place == MAP_FAILED) {
        const int error = errno;
        ::close(fd_);
        unlink(path.c_str());
        throw Error("cannot map " + path + ": " + strerror(error));
    }
    base_ = static_cast<char*>(place);
    trace::FileHeader begin{};
    std::memcpy(begin.magic, trace::kMagic, sizeof begin.magic);
    begin.major = trace::kMajor;
    begin.minor = trace::kMinor;
    begin.header_size = sizeof begin;
    begin.writer = static_cast<uint32_t>(trace::Writer::recorder);
    begin.pid = getpid();
    if (const auto stat = platform::read_task_stat("/proc", getpid(), getpid()))
        begin.pid_start_ticks = stat->start_ticks;
    begin.opened_ns = monotonic_ns();
    begin.opened_unix_ns = realtime_ns();
    begin.pid_namespace = platform::read_pid_namespace("/proc", "self");
    if (const auto boot_id = platform::read_file("/proc/sys/kernel/random/boot_id"))
        begin.machine = trace::machine_of(boot_id->data(), boot_id->size());
    if (redact_)
        platform::host_alias().copy(begin.host, sizeof begin.host - 1);
    else
        gethostname(begin.host, sizeof begin.host - 1);
    std::memcpy(base_, &begin, sizeof begin);
    used_ = sizeof begin;
}

NodeTraceWriter::~NodeTraceWriter() {
    if (base_)
        munmap(base_, reserve_);
    if (fd_ >= 0)
        ::close(fd_);
}

bool NodeTraceWriter::allocate_up_to(uint64_t bytes) {
    if (bytes <= allocated_)
        return true;
    const uint64_t end = (bytes + kAllocationStep - 1) / kAllocationStep * kAllocationStep;
    // Without blocks behind it a store into the mapping is a SIGBUS when the disk is full. Interrupted by a
    // signal the call is to be made again.
    int error = 0;
    while ((error = posix_fallocate(fd_, static_cast<off_t>(allocated_), end - allocated_)) == EINTR) {}
    if (error != 0) {
        errno = error;
        return false;
    }
    allocated_ = end;
    return true;
}

bool NodeTraceWriter::begin_chunk(uint32_t least_bytes) {
    const uint32_t size = std::max<uint32_t>(kChunkBytes, sizeof(trace::ChunkHeader) + least_bytes);
    if (used_ + size > limit_ || used_ + size > reserve_ || !allocate_up_to(used_ + size)) {
        __atomic_fetch_or(&header().flags, trace::kFull, __ATOMIC_RELAXED);
        return false;
    }
    chunk_ = reinterpret_cast<trace::ChunkHeader*>(base_ + used_);
    chunk_->size = size;
    chunk_->tid = getpid();
    __atomic_store_n(&chunk_->magic, trace::kChunkMagic, __ATOMIC_RELEASE);
    used_ += size;
    __atomic_store_n(&header().next_chunk, used_ - sizeof(trace::FileHeader), __ATOMIC_RELEASE);
    return true;
}

void* NodeTraceWriter::append_bytes(const void* record, uint32_t bytes) {
    const auto room = [&] {
        return chunk_ && sizeof(trace::ChunkHeader) + chunk_->committed + bytes <= chunk_->size;
    };
    if (!room() && !begin_chunk(bytes)) {
        count_dropped();
        return nullptr;
    }
    char* place = reinterpret_cast<char*>(chunk_ + 1) + chunk_->committed;
    std::memcpy(place, record, bytes);
    __atomic_store_n(&chunk_->committed, chunk_->committed + bytes, __ATOMIC_RELEASE);
    return place;
}

void NodeTraceWriter::count_dropped() { __atomic_fetch_add(&header().dropped_records, 1, __ATOMIC_RELAXED); }

trace::StringId NodeTraceWriter::new_string(std::string_view text) {
    std::string shortened;
    if (redact_) {
        shortened = platform::without_folders(std::string(text));
        if (text.starts_with('/') && shortened.size() < text.size() && private_paths_.size() < kMostPrivatePaths)
            private_paths_.emplace(text);
        text = shortened;
    }
    text = text.substr(0, kLongestString);
    const uint32_t bytes = sizeof(trace::String) + ((text.size() + 7) & ~size_t{7});
    std::string record(bytes, '\0');
    const trace::String head{{static_cast<uint16_t>(trace::RecordType::String), static_cast<uint16_t>(bytes), 0},
                             strings_ + 1,
                             static_cast<uint32_t>(text.size())};
    std::memcpy(record.data(), &head, sizeof head);
    std::memcpy(record.data() + sizeof head, text.data(), text.size());
    return append_bytes(record.data(), bytes) ? ++strings_ : 0;
}

trace::StringId NodeTraceWriter::string(std::string_view text) {
    if (text.empty())
        return 0;
    const auto [entry, added] = string_ids_.try_emplace(std::string(text), 0);
    if (added)
        entry->second = new_string(text);
    return entry->second;
}

void NodeTraceWriter::evidence(std::string_view source, trace::EvidenceState state, std::string_view why,
                         std::string_view enable, uint32_t pid) {
    trace::Evidence record{};
    record.source = string(source);
    record.state = static_cast<uint32_t>(state);
    record.why = string(why);
    record.enable = string(enable);
    record.pid = pid;
    append(trace::RecordType::Evidence, 0, record);
}

void NodeTraceWriter::raise_limit(uint64_t by_bytes) { limit_ = std::min(limit_ + by_bytes, reserve_); }

void NodeTraceWriter::close() {
    update(header().closed_ns, monotonic_ns());
    __atomic_fetch_or(&header().flags, trace::kClosed, __ATOMIC_RELAXED);
    // The last chunk is cut to what it holds; nothing is appended any more.
    if (chunk_) {
        const uint32_t size = sizeof(trace::ChunkHeader) + static_cast<uint32_t>(chunk_->committed);
        used_ -= chunk_->size - size;
        __atomic_store_n(&chunk_->size, size, __ATOMIC_RELEASE);
        __atomic_store_n(&header().next_chunk, used_ - sizeof(trace::FileHeader), __ATOMIC_RELEASE);
    }
    // A failure leaves zeros behind the last chunk, which readers stop at.
    [[maybe_unused]] const int result = ftruncate(fd_, static_cast<off_t>(used_));
    limit_ = 0;
    chunk_ = nullptr;
}

} // namespace plumb::record
