#include "platform/available_memory.h"

#include "platform/read_file.h"

#include <algorithm>

namespace plumb::platform {

uint64_t available_memory(const std::string& root) {
    const std::string meminfo = read_file(root + "/proc/meminfo").value_or("");
    uint64_t available = 0;
    for (std::string_view rest = meminfo; !rest.empty();) {
        std::string_view line = next_line(rest);
        if (next_word(line) == "MemAvailable:")
            available = to_u64(next_word(line)) * 1024;
    }
    const std::string groups = read_file(root + "/proc/self/cgroup").value_or("");
    std::string path;
    for (std::string_view rest = groups; !rest.empty();) {
        const std::string_view line = next_line(rest);
        if (line.starts_with("0::/"))
            path = line.substr(3);
    }
    for (; path.size() > 1; path.resize(std::max<size_t>(path.rfind('/'), 0))) {
        const std::string folder = root + "/sys/fs/cgroup" + path + "/";
        const auto limit = read_number(folder + "memory.max"), used = read_number(folder + "memory.current");
        if (limit && used) // "max" is no number
            available = std::min(available, static_cast<uint64_t>(std::max<int64_t>(*limit - *used, 0)));
    }
    return available;
}

} // namespace plumb::platform
