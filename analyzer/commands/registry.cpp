#include "commands/command.h"

namespace plumb {

namespace {
const std::span<const CommandEntry> commands{};
} // namespace

std::span<const CommandEntry> command_registry() { return commands; }

} // namespace plumb
