#include "kernel_log/message.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace plumb::kernel_log {

namespace {

using std::string_view;
using Text = string_view;

constexpr size_t kMostPrefix = 96; // of a line, before the kernel's own words

bool is_digit(char character) { return character >= '0' && character <= '9'; }

Text trimmed(Text text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    return text;
}

// The number at the beginning, with or without 0x where the base is 16.
std::optional<uint64_t> number(Text text, int base) {
    if (base == 16 && (text.starts_with("0x") || text.starts_with("0X")))
        text.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end == text.data())
        return std::nullopt;
    return value;
}

// What follows `key`; nothing where it does not occur.
std::optional<Text> after(Text text, Text key) {
    const size_t at = text.find(key);
    return at == Text::npos ? std::nullopt : std::optional(text.substr(at + key.size()));
}

std::optional<uint64_t> number_after(Text text, Text key, int base) {
    const auto rest = after(text, key);
    return rest ? number(trimmed(*rest), base) : std::nullopt;
}

// A line in its parts: when it was written, and the kernel's words.
struct Line {
    Text when, words;
};

// "<4>", "[   12.345678] ", "[Thu Nov 26 09:00:00 2026] ", "Nov 26 09:00:00 host kernel: ", "2026-11-26T09:00:00+0100 host kernel: ", and
// "[T123] " of who wrote it, in the combinations in which dmesg, journalctl and syslog have them.
Line split(Text line) {
    Line parts{{}, trimmed(line)};
    Text& words = parts.words;
    if (words.starts_with('<'))
        if (const size_t end = words.find('>'); end != Text::npos && end <= 5)
            words.remove_prefix(end + 1);
    if (const size_t at = words.find(" kernel: "); at != Text::npos && at < kMostPrefix) {
        parts.when = trimmed(words.substr(0, words.rfind(' ', at - 1)));
        words.remove_prefix(at + 9);
    } else if (words.starts_with("kernel: ")) {
        words.remove_prefix(8);
    }
    words = trimmed(words);
    while (words.starts_with('[')) {
        const size_t end = words.find(']');
        if (end == Text::npos || end >= kMostPrefix)
            break;
        const Text inner = trimmed(words.substr(1, end - 1));
        if (parts.when.empty() && !inner.empty() && (is_digit(inner.front()) || inner.find(':') != Text::npos))
            parts.when = inner;
        words = trimmed(words.substr(end + 1));
    }
    return parts;
}

struct Process {
    std::string program;
    int pid = 0;
};

// "name OPEN 123 CLOSE" that `text` ends with; names may have blanks and brackets.
std::optional<Process> process_at_end(Text text, char open, char close) {
    text = trimmed(text);
    if (close) {
        if (!text.ends_with(close))
            return std::nullopt;
        text.remove_suffix(1);
    }
    const size_t at = text.rfind(open);
    if (at == Text::npos || at == 0 || at + 1 == text.size() || !std::ranges::all_of(text.substr(at + 1), is_digit))
        return std::nullopt;
    return Process{std::string(trimmed(text.substr(0, at))), static_cast<int>(number(text.substr(at + 1), 10).value_or(0))};
}

void set_process(Message& message, const Process& process) {
    message.program = process.program;
    message.pid = process.pid;
}

// ia64, parisc: "name(1): unaligned access to 0x.., ip=0x..", ".. at ip 0x..". The kernel's own: "kernel unaligned access to ..".
std::optional<Message> unaligned_access(Text words) {
    const size_t at = words.find("unaligned access to 0x");
    if (at == Text::npos)
        return std::nullopt;
    Message message{.kind = Kind::unaligned};
    Text before = trimmed(words.substr(0, at));
    if (before == "kernel") {
        message.program = "kernel";
    } else {
        if (!before.ends_with(':'))
            return std::nullopt;
        const auto process = process_at_end(before.substr(0, before.size() - 1), '(', ')');
        if (!process)
            return std::nullopt;
        set_process(message, *process);
    }
    const Text rest = words.substr(at);
    message.address = number_after(rest, "access to ", 16);
    message.instruction = number_after(rest, "ip=", 16).value_or(number_after(rest, "at ip ", 16).value_or(0));
    return message;
}

// alpha: "name(1): unaligned trap at 000000012000abcd: 000000011ffff3a1 29 1".
std::optional<Message> unaligned_trap(Text words) {
    constexpr Text kForm = "unaligned trap at ";
    const size_t at = words.find(kForm);
    if (at == Text::npos)
        return std::nullopt;
    Message message{.kind = Kind::unaligned};
    const Text before = trimmed(words.substr(0, at));
    if (before == "kernel:") {
        message.program = "kernel";
    } else {
        const auto process = before.ends_with(':') ? process_at_end(before.substr(0, before.size() - 1), '(', ')') : std::nullopt;
        if (!process)
            return std::nullopt;
        set_process(message, *process);
    }
    const Text rest = words.substr(at + kForm.size());
    message.instruction = number(rest, 16).value_or(0);
    message.address = number_after(rest, ": ", 16);
    return message;
}

// arm: "Alignment trap: name (1) PC=0x.. Instr=0x.. Address=0x.. FSR 0x801".
std::optional<Message> alignment_trap(Text words) {
    const auto rest = after(words, "Alignment trap: ");
    const size_t pc = rest ? rest->find(" PC=0x") : Text::npos;
    if (pc == Text::npos)
        return std::nullopt;
    const auto process = process_at_end(rest->substr(0, pc), '(', ')');
    if (!process)
        return std::nullopt;
    Message message{.kind = Kind::unaligned};
    set_process(message, *process);
    message.instruction = number_after(*rest, "PC=", 16).value_or(0);
    message.address = number_after(*rest, "Address=", 16);
    return message;
}

// sh: 'Fixing up unaligned userspace access in "name" pid=1 pc=0x.. ins=0x..'.
std::optional<Message> fixed_up(Text words) {
    const auto rest = after(words, "Fixing up unaligned userspace access in ");
    const size_t end = rest && rest->starts_with('"') ? rest->find('"', 1) : Text::npos;
    if (end == Text::npos)
        return std::nullopt;
    Message message{.kind = Kind::unaligned, .program = std::string(rest->substr(1, end - 1))};
    message.pid = static_cast<int>(number_after(*rest, "pid=", 10).value_or(0));
    message.instruction = number_after(*rest, "pc=", 16).value_or(0);
    return message;
}

// sparc: "Kernel unaligned access at TPC[8db2a8] function+0x6e8/0x720".
std::optional<Message> kernel_access(Text words) {
    const auto rest = after(words, "Kernel unaligned access at TPC[");
    if (!rest)
        return std::nullopt;
    Message message{.kind = Kind::unaligned, .program = "kernel", .instruction = number(*rest, 16).value_or(0)};
    if (const size_t end = rest->find("] "); end != Text::npos)
        message.detail = trimmed(rest->substr(end + 2));
    return message;
}

// x86: "x86/split lock detection: #AC: name/1 took a split_lock trap at address: 0x..", newer with "name/1 (user)".
std::optional<Message> lock_trap(Text words) {
    const bool is_split = words.find("took a split_lock trap at address: ") != Text::npos;
    const size_t at = words.find(is_split ? " took a split_lock trap" : " took a bus_lock trap");
    const size_t sign = words.find(is_split ? "#AC: " : "#DB: ");
    if (at == Text::npos || sign == Text::npos || sign + 5 > at)
        return std::nullopt;
    Text who = trimmed(words.substr(sign + 5, at - sign - 5));
    if (who.ends_with(')'))
        who = trimmed(who.substr(0, who.rfind('(')));
    const auto process = process_at_end(who, '/', '\0');
    if (!process)
        return std::nullopt;
    Message message{.kind = is_split ? Kind::split_lock : Kind::bus_lock};
    set_process(message, *process);
    message.instruction = number_after(words, "at address: ", 16).value_or(0);
    return message;
}

// ".. in libx.so[7f0000001000+26000]", newer "libx.so[1a2b,7f0000001000+26000]": the second begins with the offset in the file.
void read_module(Text words, Message& message) {
    const auto rest = after(words, " in ");
    const size_t open = rest ? rest->find('[') : Text::npos;
    if (open == Text::npos)
        return;
    Text range = rest->substr(open + 1);
    const size_t comma = range.find(','), close = range.find(']');
    message.module = trimmed(rest->substr(0, open));
    if (comma < close) {
        message.file_offset = number(range, 16);
        range.remove_prefix(comma + 1);
    }
    message.module_start = number(range, 16).value_or(0);
}

// x86: "name[1]: segfault at 0 ip 0000.. sp 0000.. error 4 in name[..]", "traps: name[1] trap invalid opcode ip:.. sp:.. error:0 in ..",
// "traps: name[1] general protection fault ip:..".
std::optional<Message> exception(Text words) {
    if (const size_t at = words.find(": segfault at "); at != Text::npos) {
        const auto process = process_at_end(words.substr(0, at), '[', ']');
        if (!process)
            return std::nullopt;
        Message message{.kind = Kind::segfault};
        set_process(message, *process);
        message.address = number_after(words, "segfault at ", 16);
        message.instruction = number_after(words, " ip ", 16).value_or(0);
        read_module(words, message);
        return message;
    }
    const auto rest = after(words, "traps: ");
    const size_t ip = rest ? rest->find(" ip:") : Text::npos;
    if (ip == Text::npos)
        return std::nullopt;
    const size_t close = rest->substr(0, ip).rfind("] ");
    const auto process = close == Text::npos ? std::nullopt : process_at_end(rest->substr(0, close + 1), '[', ']');
    if (!process)
        return std::nullopt;
    Message message{.kind = Kind::trap};
    set_process(message, *process);
    Text what = trimmed(rest->substr(close + 2, ip - close - 2));
    if (what.starts_with("trap "))
        what.remove_prefix(5);
    message.detail = what;
    message.instruction = number_after(*rest, " ip:", 16).value_or(0);
    read_module(*rest, message);
    return message;
}

// "Out of memory: Killed process 1 (name) total-vm:..kB, anon-rss:..kB, ..", "Memory cgroup out of memory: Killed process ..".
std::optional<Message> killed(Text words) {
    const auto rest = after(words, "Killed process ");
    const size_t open = rest ? rest->find('(') : Text::npos, close = rest ? rest->find(") total-vm:") : Text::npos;
    if (open == Text::npos || close == Text::npos || close < open)
        return std::nullopt;
    Message message{.kind = Kind::killed, .program = std::string(rest->substr(open + 1, close - open - 1))};
    message.pid = static_cast<int>(number(*rest, 10).value_or(0));
    message.detail = words.find("Memory cgroup") != Text::npos ? "limit of its control group" : "";
    if (const auto kilobytes = number_after(*rest, "anon-rss:", 10))
        message.bytes = *kilobytes * 1024;
    return message;
}

// "mce: [Hardware Error]: Machine check events logged", "[Hardware Error]: ..", "EDAC MC0: 1 CE ..".
std::optional<Message> hardware(Text words) {
    if (const auto rest = after(words, "[Hardware Error]: "))
        return Message{.kind = Kind::machine_check, .detail = std::string(*rest)};
    if (words.starts_with("EDAC ") && (words.find(" CE ") != Text::npos || words.find(" UE ") != Text::npos))
        return Message{.kind = Kind::machine_check, .detail = std::string(words)};
    const size_t at = words.find(" temperature above threshold, cpu clock throttled");
    if (at == Text::npos)
        return std::nullopt;
    Message message{.kind = Kind::throttled};
    Text cpu = words.substr(0, at);
    if (cpu.starts_with("mce: "))
        cpu.remove_prefix(5);
    message.detail = cpu; // "CPU3: Core"
    return message;
}

// "__ratelimit: 12 callbacks suppressed", "printk: 3 messages suppressed."
std::optional<Message> suppressed(Text words) {
    for (const Text form : {Text(" callbacks suppressed"), Text(" messages suppressed")})
        if (const size_t at = words.find(form); at != Text::npos) {
            const size_t colon = words.rfind(": ", at);
            const auto count = colon == Text::npos ? std::nullopt : number(words.substr(colon + 2), 10);
            if (!count)
                return std::nullopt;
            Text function = words.substr(0, colon);
            if (const size_t before = function.rfind(' '); before != Text::npos)
                function.remove_prefix(before + 1);
            return Message{.kind = Kind::suppressed, .detail = std::string(function), .count = *count};
        }
    return std::nullopt;
}

constexpr std::array kForms{unaligned_access, unaligned_trap, alignment_trap, fixed_up, kernel_access,
                            lock_trap, exception, killed, suppressed, hardware};

} // namespace

std::optional<Message> read_message(Text line) {
    const Line parts = split(line);
    // The brackets of "[Hardware Error]" are taken for those of a time.
    const Text words = line.find("[Hardware Error]") != Text::npos ? line : parts.words;
    for (const auto& form : kForms)
        if (std::optional<Message> message = form(words)) {
            message->when = parts.when;
            return message;
        }
    return std::nullopt;
}

const char* kind_name(Kind kind) {
    switch (kind) {
    case Kind::unaligned:
        return "unaligned";
    case Kind::split_lock:
        return "split-lock";
    case Kind::bus_lock:
        return "bus-lock";
    case Kind::segfault:
        return "segfault";
    case Kind::trap:
        return "trap";
    case Kind::killed:
        return "killed";
    case Kind::machine_check:
        return "machine-check";
    case Kind::throttled:
        return "throttled";
    case Kind::suppressed:
        break;
    }
    return "suppressed";
}

} // namespace plumb::kernel_log
