// One line of a kernel's log that speaks of a program or of the processor. The forms are those of the kernels of each processor: ia64,
// alpha, arm, sh, parisc and sparc of accesses that are not aligned, x86 of split and bus locks, of traps and invalid addresses; all of
// processes killed for lack of memory; x86 of machine checks and throttled clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumb::kernel_log {

enum class Kind {
    unaligned,     // an access that the kernel carried out for the program, thousands of times slower
    split_lock,    // x86: a locked access across two cache lines
    bus_lock,
    segfault,
    trap,          // another exception of the processor: "invalid opcode"
    killed,        // for lack of memory
    machine_check, // the hardware reports an error
    throttled,     // a CPU's clock, by its temperature
    suppressed,    // by the kernel: so many messages of one kind were not written
};

struct Message {
    Kind kind = Kind::unaligned;
    std::string program = {};  // as the kernel calls it: at most 15 characters; "kernel": its own code
    int pid = 0;               // of the thread, 0: the line does not say
    uint64_t instruction = 0;  // address, 0: the line does not say
    std::optional<uint64_t> address = {}; // that was accessed
    // Where the line says which file the instruction lies in.
    std::string module = {};   // its name without folder
    uint64_t module_start = 0; // of its mapping
    std::optional<uint64_t> file_offset = {}; // of the instruction
    std::string detail = {};   // "invalid opcode"; of suppressed ones the kernel's function that wrote them
    uint64_t bytes = 0;        // killed: of memory that it had, without files
    uint64_t count = 1;        // suppressed: messages that were not written
    std::string when = {};     // as the line begins: "12.345678" seconds since boot, or a date; may be empty
};

// Nothing: the line is of something else.
std::optional<Message> read_message(std::string_view line);

const char* kind_name(Kind kind); // stable, for JSON: "split-lock"

} // namespace plumb::kernel_log
