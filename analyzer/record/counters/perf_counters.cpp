#include "record/counters/perf_counters.h"

#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plumb::record {

namespace {

class PerfGroup : public CounterGroup {
  public:
    ~PerfGroup() override {
        for (const int fd : fds_)
            close(fd);
    }
    void add(int fd) { fds_.push_back(fd); }
    int leader() const { return fds_.empty() ? -1 : fds_.front(); }

    std::string start() override {
        return change(PERF_EVENT_IOC_ENABLE) ? std::string() : std::string("PERF_EVENT_IOC_ENABLE: ") + strerror(errno);
    }
    void stop() override { change(PERF_EVENT_IOC_DISABLE); }

    // One by one: the kernel reads no group that is inherited (before Linux 6.13).
    std::optional<std::vector<CounterValue>> read() override {
        std::vector<CounterValue> values;
        for (const int fd : fds_) {
            uint64_t read[3] = {}; // the count, time enabled, time on a counter
            if (::read(fd, read, sizeof read) != sizeof read)
                return std::nullopt;
            values.push_back({static_cast<int64_t>(read[0]), read[1], read[2]});
        }
        return values;
    }

  private:
    // Of all events, and of all threads that have inherited them.
    bool change(unsigned long request) { return ioctl(leader(), request, PERF_IOC_FLAG_GROUP) == 0; }
    std::vector<int> fds_; // the first leads
};

} // namespace

int open_counter(const EventCoding& coding, pid_t pid, int leader, bool with_kernel) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = coding.type;
    attributes.config = coding.config;
    attributes.config1 = coding.config1;
    attributes.config2 = coding.config2;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attributes.disabled = attributes.inherit = attributes.exclude_hv = 1;
    attributes.exclude_kernel = with_kernel ? 0 : 1;
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, pid, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

OpenedGroup PerfSource::open(std::span<const CounterEvent* const> events, pid_t pid) {
    auto group = std::make_unique<PerfGroup>();
    for (size_t i = 0; i < events.size(); ++i) {
        const auto coding = coding_of(*events[i]);
        if (!coding)
            return {nullptr, i, "the kernel has no such event, and the table of PAPI's native events none"};
        const auto open_one = [&](bool with_kernel) { return open_counter(*coding, pid, group->leader(), with_kernel); };
        // Switches and migrations happen in the kernel: where user mode alone may be counted they open, and stay zero.
        int fd = open_one(is_software(*events[i]));
        if (fd < 0 && (errno == EACCES || errno == EPERM) && is_software(*events[i]))
            fd = open_one(false);
        if (fd < 0)
            return {nullptr, i, std::string("perf_event_open: ") + strerror(errno)};
        group->add(fd);
    }
    return {std::move(group), 0, ""};
}

} // namespace plumb::record
