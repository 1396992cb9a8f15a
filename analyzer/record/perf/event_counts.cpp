#include "record/perf/event_counts.h"

#include "platform/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace plumb::record {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostCpuEvents = 4; // as many counters as any CPU has for one thread

bool is_about_unaligned_accesses(std::string_view name) {
    // armv8_pmuv3: unaligned_ldst_retired (and _spec variants); others: split_loads, misaligned...
    for (const std::string_view word : {"unalign", "misalign", "split_load", "split_store", "split_lock"})
        if (name.find(word) != std::string_view::npos)
            return true;
    return false;
}

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    return text;
}

// Where a field of an event's description goes, as the device's format folder says: "config:0-7,32-35".
bool put(CountedEvent& event, std::string_view format, uint64_t value) {
    const size_t colon = format.find(':');
    if (colon == std::string_view::npos)
        return false;
    const std::string_view word = format.substr(0, colon);
    uint64_t* to = word == "config" ? &event.config : word == "config1" ? &event.config1 : word == "config2" ? &event.config2
                                                                                                            : nullptr;
    if (!to)
        return false;
    std::string_view ranges = format.substr(colon + 1);
    while (!ranges.empty()) {
        const std::string_view range = ranges.substr(0, ranges.find(','));
        ranges.remove_prefix(std::min(ranges.size(), range.size() + 1));
        const size_t dash = range.find('-');
        const uint64_t low = platform::to_u64(range);
        const uint64_t high = dash == std::string_view::npos ? low : platform::to_u64(range.substr(dash + 1));
        if (high > 63 || low > high)
            return false;
        const uint64_t bits = high - low + 1, mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
        *to |= (value & mask) << low;
        value = bits == 64 ? 0 : value >> bits;
    }
    return value == 0;
}

// "event=0xd0,umask=0x41" by the formats of its device. Nothing: not understood.
std::optional<CountedEvent> describe(const fs::path& device, const std::string& name, std::string_view text) {
    const auto type = platform::read_number(device / "type");
    if (!type)
        return std::nullopt;
    CountedEvent event{device.filename().string() + "/" + name + "/", static_cast<uint32_t>(*type), 0, 0, 0};
    while (!text.empty()) {
        const std::string_view term = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), term.size() + 1));
        const size_t equals = term.find('=');
        const std::string field(term.substr(0, equals));
        uint64_t value = 1;
        if (equals != std::string_view::npos) {
            char* end = nullptr;
            const std::string digits(term.substr(equals + 1));
            value = std::strtoull(digits.c_str(), &end, 0);
            if (digits.empty() || *end != '\0')
                return std::nullopt; // "?": a parameter that the user is to give
        }
        const auto format = platform::read_file(device / "format" / field);
        if (!format || !put(event, trimmed(*format), value))
            return std::nullopt;
    }
    return event;
}

int open_event(const CountedEvent& event, int pid) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.config1 = event.config1;
    attributes.config2 = event.config2;
    attributes.disabled = attributes.enable_on_exec = attributes.inherit = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const auto open = [&] {
        return static_cast<int>(syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC));
    };
    int fd = open();
    if (fd < 0 && (errno == EACCES || errno == EPERM)) {
        attributes.exclude_kernel = 1; // perf_event_paranoid 2: user mode alone, which is where these accesses are made
        fd = open();
    }
    return fd;
}

} // namespace

std::vector<CountedEvent> kernel_events() {
#if defined(__x86_64__) || defined(__i386__)
    return {};
#else
    return {{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, 0, 0},
            {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, 0, 0}};
#endif
}

std::vector<CountedEvent> unaligned_cpu_events(const std::string& root) {
    std::map<std::string, CountedEvent> events; // by name: the order of a directory means nothing
    std::error_code error;
    for (const auto& device : fs::directory_iterator(root + "/sys/bus/event_source/devices", error)) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(device.path() / "events", none)) {
            const std::string name = entry.path().filename();
            if (!is_about_unaligned_accesses(name) || name.find('.') != std::string::npos) // NAME.scale, NAME.unit
                continue;
            const auto text = platform::read_file(entry.path());
            if (const auto event = text ? describe(device.path(), name, trimmed(*text)) : std::nullopt)
                events.emplace(event->name, *event);
        }
    }
    std::vector<CountedEvent> first;
    for (const auto& [name, event] : events)
        if (first.size() < kMostCpuEvents)
            first.push_back(event);
    return first;
}

EventCounts::EventCounts(int pid, const std::vector<CountedEvent>& events) : pid_(pid) {
    for (const CountedEvent& event : events) {
        const int fd = open_event(event, pid);
        if (fd >= 0)
            opened_.push_back({event.name, fd});
        else
            why_not_ += (why_not_.empty() ? "" : "; ") + event.name + ": perf_event_open: " + strerror(errno);
    }
}

EventCounts::~EventCounts() {
    for (const Opened& event : opened_)
        close(event.fd);
}

std::vector<EventCounts::Count> EventCounts::read() const {
    std::vector<Count> counts;
    for (const Opened& event : opened_) {
        uint64_t values[3] = {}; // the count, time enabled, time on a counter
        if (::read(event.fd, values, sizeof values) != sizeof values)
            continue;
        const bool estimated = values[2] > 0 && values[2] < values[1];
        if (estimated)
            values[0] = static_cast<uint64_t>(static_cast<double>(values[0]) * static_cast<double>(values[1]) /
                                              static_cast<double>(values[2]));
        counts.push_back({event.name, values[0], estimated});
    }
    return counts;
}

void EventCounts::write(NodeTraceWriter& file) const {
    constexpr const char* kSource = "alignment-events";
    std::string estimated;
    for (const Count& count : read()) {
        trace::EventCount record{};
        record.name = file.string(count.name);
        record.pid = static_cast<uint32_t>(pid_);
        record.count = count.value;
        file.append(trace::RecordType::EventCount, 0, record);
        if (count.estimated)
            estimated += (estimated.empty() ? "" : ", ") + count.name;
    }
    if (opened_.empty())
        file.evidence(kSource, trace::EvidenceState::missing,
                      why_not_.empty() ? "/sys/bus/event_source names no event for split or unaligned accesses on this kernel "
                                         "and CPU"
                                       : why_not_,
                      "bare metal, or a virtual machine with a virtual PMU");
    else if (!why_not_.empty() || !estimated.empty())
        file.evidence(kSource, trace::EvidenceState::limited,
                      why_not_.empty() ? "extrapolated, because the CPU has too few counters: " + estimated : why_not_, "");
    else
        file.evidence(kSource, trace::EvidenceState::ok, "", "");
}

} // namespace plumb::record
