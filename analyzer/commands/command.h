// The commands of `plumb`, one file each: it declares its options on a CLI11 subcommand and says what to run.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <span>

namespace plumb {

// Returns the exit status of plumb. May throw plumb::Error: main prints its text and exits with its status.
using CommandAction = std::function<int()>;

struct CommandEntry {
    const char* name;
    const char* summary;
    CommandAction (*declare)(CLI::App& subcommand); // called once; the action runs after parsing
};

std::span<const CommandEntry> command_registry();

// One for each command, defined in the file named after it.
CommandAction declare_compare(CLI::App& subcommand);
CommandAction declare_doctor(CLI::App& subcommand);
CommandAction declare_dump(CLI::App& subcommand);
CommandAction declare_noise(CLI::App& subcommand);
CommandAction declare_pin(CLI::App& subcommand);
CommandAction declare_probe(CLI::App& subcommand);
CommandAction declare_repeat(CLI::App& subcommand);
CommandAction declare_report(CLI::App& subcommand);
CommandAction declare_run(CLI::App& subcommand);
CommandAction declare_scale(CLI::App& subcommand);
CommandAction declare_simulate(CLI::App& subcommand);
CommandAction declare_system(CLI::App& subcommand);
CommandAction declare_topo(CLI::App& subcommand);
CommandAction declare_try(CLI::App& subcommand);

} // namespace plumb
