#include "commands/command.h"

namespace plumb {

namespace {
constexpr CommandEntry commands[] = {
    {"doctor", "which sources of evidence work here, which do not, why, and what would enable them", declare_doctor},
    {"dump", "the raw records of a run, readable", declare_dump},
    {"pin", "run a program with its threads pinned; nothing is recorded", declare_pin},
    {"report", "say what was out of plumb in a recorded run: text, JSON or HTML", declare_report},
    {"run", "record a program, then say what is out of plumb in it", declare_run},
};
} // namespace

std::span<const CommandEntry> command_registry() { return commands; }

} // namespace plumb
