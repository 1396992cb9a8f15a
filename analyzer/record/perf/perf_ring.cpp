#include "record/perf/perf_ring.h"

#include <cerrno>
#include <cstring>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace plumb::record {

namespace {
const size_t page_bytes = sysconf(_SC_PAGESIZE);
}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), cpu_(other.cpu_), pages_(other.pages_),
      base_(std::exchange(other.base_, nullptr)), wrapped_(std::move(other.wrapped_)) {}

PerfRing& PerfRing::operator=(PerfRing&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(cpu_, other.cpu_);
    std::swap(pages_, other.pages_);
    std::swap(base_, other.base_);
    std::swap(wrapped_, other.wrapped_);
    return *this;
}

PerfRing::~PerfRing() {
    if (base_)
        munmap(base_, (1 + pages_) * page_bytes);
    if (fd_ >= 0)
        close(fd_);
}

int PerfRing::open(const perf_event_attr& attributes, int pid, int cpu, size_t pages) {
    perf_event_attr copy = attributes; // the kernel writes its own size into it when it knows a smaller one
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &copy, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    if (fd_ < 0)
        return errno;
    cpu_ = cpu;
    for (pages_ = pages; pages_ >= 1; pages_ /= 2) {
        void* place = mmap(nullptr, (1 + pages_) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
        if (place != MAP_FAILED) {
            base_ = static_cast<char*>(place);
            return 0;
        }
        if (errno != EPERM && errno != ENOMEM && errno != EAGAIN)
            break;
    }
    const int error = errno == EPERM || errno == EAGAIN ? ENOMEM : errno; // EPERM: beyond what the user may lock
    close(fd_);
    fd_ = -1;
    return error;
}

int PerfRing::open_into(const perf_event_attr& attributes, int pid, const PerfRing& other) {
    perf_event_attr copy = attributes;
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &copy, pid, other.cpu_, -1, PERF_FLAG_FD_CLOEXEC));
    if (fd_ < 0)
        return errno;
    cpu_ = other.cpu_;
    if (ioctl(fd_, PERF_EVENT_IOC_SET_OUTPUT, other.fd_) == 0)
        return 0;
    const int error = errno;
    close(fd_);
    fd_ = -1;
    return error;
}

uint64_t PerfRing::read(const std::function<void(const perf_event_header&, uint64_t end)>& take) {
    const auto* control = reinterpret_cast<const perf_event_mmap_page*>(base_);
    const char* data = base_ + page_bytes;
    const size_t size = pages_ * page_bytes;
    const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    for (uint64_t at = control->data_tail; at < head;) {
        const size_t place = at % size;
        const auto* header = reinterpret_cast<const perf_event_header*>(data + place); // never wraps: multiple of 8
        const size_t bytes = header->size;
        if (bytes < sizeof *header || bytes > head - at)
            break; // cannot happen with a sane kernel; give the room up rather than read outside
        at += bytes;
        if (place + bytes > size) {
            wrapped_.resize((bytes + 7) / 8);
            char* const copy = reinterpret_cast<char*>(wrapped_.data());
            std::memcpy(copy, data + place, size - place);
            std::memcpy(copy + (size - place), data, bytes - (size - place));
            header = reinterpret_cast<const perf_event_header*>(copy);
        }
        take(*header, at);
    }
    return head;
}

void PerfRing::free_until(uint64_t end) {
    __atomic_store_n(&reinterpret_cast<perf_event_mmap_page*>(base_)->data_tail, end, __ATOMIC_RELEASE);
}

void PerfRing::drain(const std::function<void(const perf_event_header&)>& take) {
    free_until(read([&](const perf_event_header& header, uint64_t) { take(header); }));
}

uint64_t PerfRing::lost() const {
    struct {
        uint64_t count, lost;
    } values{};
    return ::read(fd_, &values, sizeof values) == sizeof values ? values.lost : 0;
}

void PerfRing::enable_for(int samples) { ioctl(fd_, PERF_EVENT_IOC_REFRESH, samples); }

void PerfRing::enable(bool on) { ioctl(fd_, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0); }

} // namespace plumb::record
