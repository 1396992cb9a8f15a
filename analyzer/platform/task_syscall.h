// What a thread that is off its CPU waits in: /proc/PID/task/TID/syscall.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plumb::platform {

struct TaskSyscall {
    bool running = false; // on a CPU, or waiting for one: the kernel does not say which; nothing else is known then
    int number = -1;      // of the system call, as the machine numbers them; -1: blocked outside of one (a page fault)
    std::array<uint64_t, 6> arguments = {};
    uint64_t sp = 0, pc = 0; // of user mode; pc: the instruction behind the system call
};

// `text`: the whole file. Nothing when it does not look like that file.
std::optional<TaskSyscall> parse_task_syscall(std::string_view text);

} // namespace plumb::platform
