#include "kernel_log/gathered.h"

#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>

namespace plumb::kernel_log {

namespace {

constexpr size_t kMostLine_bytes = 64u << 10, kMostSuppressed = 256;
constexpr uint64_t kFewestSteps = 3;

// A block is mapped anew in each process, and stands elsewhere: within a file the offset names the instruction.
uint64_t place_of(const Message& message) {
    if (message.file_offset)
        return *message.file_offset;
    return message.module.empty() ? message.instruction : message.instruction - message.module_start;
}

} // namespace

int64_t Group::step_bytes() const {
    uint64_t all = 0;
    const auto most = std::ranges::max_element(steps, {}, [](const auto& step) { return step.second; });
    for (const auto& [step, times] : steps)
        all += times;
    return all >= kFewestSteps && 2 * most->second >= all ? most->first : 0;
}

void Gathered::add(const Message& message) {
    if (message.kind == Kind::suppressed) {
        if (suppressed_.size() < kMostSuppressed || suppressed_.contains(message.detail))
            suppressed_[message.detail] += message.count;
        return;
    }
    ++messages_;
    const Key key{message.kind, message.program, message.module, place_of(message), message.detail};
    auto found = entries_.find(key);
    if (found == entries_.end()) {
        if (entries_.size() >= kMostGroups) {
            ++left_out_;
            return;
        }
        found = entries_.emplace(key, Entry{}).first;
        found->second.group.first = message;
    }
    auto& [group, last_address] = found->second;
    ++group.count;
    group.last_when = message.when;
    if (group.pids.size() < Group::kMostPids)
        group.pids.insert(message.pid);
    else
        group.has_more_pids |= !group.pids.contains(message.pid);
    if (!message.address || !group.pids.contains(message.pid))
        return;
    const auto [last, is_first] = last_address.try_emplace(message.pid, *message.address);
    if (is_first)
        return;
    const auto step = static_cast<int64_t>(*message.address - last->second);
    last->second = *message.address;
    if (group.steps.size() < Group::kMostSteps || group.steps.contains(step))
        ++group.steps[step];
}

std::vector<Group> Gathered::groups() const {
    std::vector<Group> groups;
    for (const auto& [key, entry] : entries_)
        groups.push_back(entry.group);
    std::ranges::stable_sort(groups, std::greater<>(), &Group::count);
    return groups;
}

void read_log(const std::string& path, Gathered& gathered) {
    const bool is_input = path == "-";
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(is_input ? nullptr : std::fopen(path.c_str(), "re"), std::fclose);
    std::FILE* const file = is_input ? stdin : opened.get();
    if (!file)
        throw Error(fmt::format("cannot read the kernel's log {}: {}", path, std::strerror(errno)));
    std::string line;
    const auto end_line = [&] {
        ++gathered.lines;
        if (const auto message = read_message(line))
            gathered.add(*message);
        line.clear();
    };
    std::vector<char> buffer(kMostLine_bytes);
    for (size_t size; (size = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) {
        for (const char *at = buffer.data(), *const end = at + size; at < end;) {
            const auto* const newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
            const char* const stop = newline ? newline : end;
            line.append(at, std::min(static_cast<size_t>(stop - at), kMostLine_bytes - line.size()));
            at = stop + (newline != nullptr);
            if (newline)
                end_line();
        }
    }
    if (std::ferror(file))
        throw Error(fmt::format("cannot read the kernel's log {} to its end: {}", path, std::strerror(errno)));
    if (!line.empty())
        end_line();
}

} // namespace plumb::kernel_log
