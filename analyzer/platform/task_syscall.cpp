#include "platform/task_syscall.h"

#include "platform/read_file.h"

#include <charconv>

namespace plumb::platform {

namespace {

template <class Number> bool read_number(std::string_view word, Number& number, int base) {
    if (base == 16) {
        if (!word.starts_with("0x"))
            return false;
        word.remove_prefix(2);
    }
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, base);
    return error == std::errc{} && end == word.data() + word.size();
}

} // namespace

std::optional<TaskSyscall> parse_task_syscall(std::string_view text) {
    TaskSyscall call;
    const std::string_view first = next_word(text);
    if (first == "running") {
        call.running = true;
        return call;
    }
    if (!read_number(first, call.number, 10) || call.number < -1)
        return std::nullopt;
    if (call.number >= 0)
        for (uint64_t& argument : call.arguments)
            if (!read_number(next_word(text), argument, 16))
                return std::nullopt;
    const std::string_view sp = next_word(text), pc = next_word(text);
    if (!read_number(sp, call.sp, 16) || !read_number(pc, call.pc, 16))
        return std::nullopt;
    return call;
}

} // namespace plumb::platform
