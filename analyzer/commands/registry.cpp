#include "commands/command.h"

namespace plumb {

namespace {
constexpr CommandEntry commands[] = {
    {"doctor", "which sources of evidence work here, which do not, why, and what would enable them", declare_doctor},
};
} // namespace

std::span<const CommandEntry> command_registry() { return commands; }

} // namespace plumb
