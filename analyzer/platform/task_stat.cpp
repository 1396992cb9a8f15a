#include "platform/task_stat.h"

#include "platform/read_file.h"

#include <dirent.h>
#include <unistd.h>

namespace plumb::platform {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

std::string task_path(const std::string& root, uint32_t pid, uint32_t tid, const char* file) {
    return root + "/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/" + file;
}

std::vector<uint32_t> list_numbers(const std::string& path) {
    std::vector<uint32_t> numbers;
    if (DIR* directory = opendir(path.c_str())) {
        while (const dirent* entry = readdir(directory))
            if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
                numbers.push_back(to_u64(entry->d_name));
        closedir(directory);
    }
    return numbers;
}

uint64_t ticks_per_second() {
    static const uint64_t ticks = sysconf(_SC_CLK_TCK);
    return ticks;
}

uint64_t value_after(std::string_view line) {
    line.remove_prefix(std::min(line.size(), line.find(':') + 1));
    return to_u64(next_word(line));
}

} // namespace

std::optional<TaskStat> parse_task_stat(std::string_view text, uint64_t ticks_per_second) {
    const size_t open = text.find('('), close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open || !ticks_per_second)
        return std::nullopt;
    TaskStat stat;
    stat.name = text.substr(open + 1, close - open - 1);
    std::string_view rest = text.substr(close + 1);
    std::string_view field[52]; // [3] is the state, numbered as in proc(5)
    int count = 3;
    while (count < 52 && !(field[count] = next_word(rest)).empty())
        ++count;
    if (count < 40) // up to "processor"
        return std::nullopt;
    const uint64_t tick_ns = kSecond / ticks_per_second;
    stat.state = field[3][0];
    stat.parent_pid = to_u64(field[4]);
    stat.group = to_u64(field[5]);
    stat.session = to_u64(field[6]);
    stat.minor_faults = to_u64(field[10]);
    stat.major_faults = to_u64(field[12]);
    stat.user_ns = to_u64(field[14]) * tick_ns;
    stat.system_ns = to_u64(field[15]) * tick_ns;
    stat.nice = field[19].starts_with('-') ? -static_cast<int>(to_u64(field[19].substr(1))) : static_cast<int>(to_u64(field[19]));
    stat.thread_count = to_u64(field[20]);
    stat.start_ticks = to_u64(field[22]);
    stat.cpu = static_cast<int>(to_u64(field[39]));
    stat.policy = static_cast<int>(to_u64(field[41]));
    stat.stack_start = to_u64(field[28]);
    stat.environment_bytes = to_u64(field[51]) - to_u64(field[50]);
    return stat;
}

std::optional<TaskScheduling> parse_task_scheduling(std::string_view text) {
    TaskScheduling scheduling;
    const std::string_view run = next_word(text), delay = next_word(text), slices = next_word(text);
    if (slices.empty())
        return std::nullopt;
    scheduling.run_ns = to_u64(run);
    scheduling.run_delay_ns = to_u64(delay);
    scheduling.slices = to_u64(slices);
    return scheduling;
}

TaskStatus parse_task_status(std::string_view text) {
    TaskStatus status;
    while (!text.empty()) {
        std::string_view line = next_line(text);
        if (line.starts_with("Cpus_allowed_list:")) {
            line.remove_prefix(line.find(':') + 1);
            status.allowed_cpus = next_word(line);
        } else if (line.starts_with("voluntary_ctxt_switches:")) {
            status.voluntary_switches = value_after(line);
            status.found_switches = true;
        } else if (line.starts_with("nonvoluntary_ctxt_switches:")) {
            status.involuntary_switches = value_after(line);
        } else if (line.starts_with("VmHWM:")) {
            status.peak_resident_bytes = value_after(line) * 1024;
        } else if (line.starts_with("RssAnon:")) {
            status.anonymous_bytes = value_after(line) * 1024;
        } else if (line.starts_with("RssShmem:")) {
            status.shared_bytes = value_after(line) * 1024;
        } else if (line.starts_with("Uid:")) {
            line.remove_prefix(4);
            next_word(line);
            status.user_id = to_u64(next_word(line));
        } else if (line.starts_with("NSpid:")) { // outermost first
            line.remove_prefix(line.find(':') + 1);
            next_word(line);
            for (std::string_view id = next_word(line); !id.empty(); id = next_word(line))
                status.inner_id = static_cast<uint32_t>(to_u64(id));
        }
    }
    return status;
}

std::optional<uint64_t> parse_migrations(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = next_line(text);
        if (line.starts_with("se.nr_migrations"))
            return value_after(line);
    }
    return std::nullopt;
}

std::optional<TaskStat> read_task_stat(const std::string& root, uint32_t pid, uint32_t tid) {
    const auto text = read_file(task_path(root, pid, tid, "stat"));
    return text ? parse_task_stat(*text, ticks_per_second()) : std::nullopt;
}

std::optional<TaskStat> read_process_stat(const std::string& root, uint32_t pid) {
    const auto text = read_file(root + "/" + std::to_string(pid) + "/stat");
    return text ? parse_task_stat(*text, ticks_per_second()) : std::nullopt;
}

std::optional<TaskScheduling> read_task_scheduling(const std::string& root, uint32_t pid, uint32_t tid) {
    const auto text = read_file(task_path(root, pid, tid, "schedstat"));
    return text ? parse_task_scheduling(*text) : std::nullopt;
}

std::optional<TaskStatus> read_task_status(const std::string& root, uint32_t pid, uint32_t tid) {
    const auto text = read_file(task_path(root, pid, tid, "status"));
    return text ? std::optional(parse_task_status(*text)) : std::nullopt;
}

uint64_t read_pid_namespace(const std::string& root, const std::string& process) {
    char text[64]; // "pid:[4026531836]"
    const ssize_t length = readlink((root + "/" + process + "/ns/pid").c_str(), text, sizeof text);
    const std::string_view name(text, length > 0 ? static_cast<size_t>(length) : 0);
    const size_t number = name.find('[');
    return number == std::string_view::npos ? 0 : to_u64(name.substr(number + 1));
}

std::optional<uint64_t> read_migrations(const std::string& root, uint32_t pid, uint32_t tid) {
    const auto text = read_file(task_path(root, pid, tid, "sched"));
    return text ? parse_migrations(*text) : std::nullopt;
}

// The first line is about the program's own code, which has no policy but that of the process. The kernel walks the
// pages of what is read and of nothing else.
std::string read_memory_policy(const std::string& root, uint32_t pid) {
    constexpr size_t kOneLine = 128; // "7f0123456000 interleave:0-1 file=...": the rest of it does not matter
    const auto text = read_file(root + "/" + std::to_string(pid) + "/numa_maps", kOneLine);
    if (!text)
        return {};
    std::string_view rest = *text;
    next_word(rest);
    std::string policy(next_word(rest));
    if (policy == "weighted")
        policy += " " + std::string(next_word(rest));
    return policy;
}

std::vector<uint32_t> list_threads(const std::string& root, uint32_t pid) {
    return list_numbers(root + "/" + std::to_string(pid) + "/task");
}

std::vector<uint32_t> list_processes(const std::string& root) { return list_numbers(root); }

std::string read_command_line(const std::string& root, uint32_t pid) {
    std::string text = read_file(root + "/" + std::to_string(pid) + "/cmdline").value_or("");
    if (!text.empty() && text.back() == '\0')
        text.pop_back();
    return text;
}

} // namespace plumb::platform
