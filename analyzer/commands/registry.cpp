#include "commands/command.h"

namespace plumb {

namespace {
constexpr CommandEntry commands[] = {
    {"compare", "compare runs of a program: what changed, and which differences are chance", declare_compare},
    {"doctor", "list the sources of evidence: which work here, which do not, why, and what would enable them", declare_doctor},
    {"dump", "print the raw records of a run", declare_dump},
    {"noise", "measure what takes CPU time away from programs on this machine: how much, how often, and who", declare_noise},
    {"pin", "run a program with its threads pinned; record nothing", declare_pin},
    {"probe", "measure the machine itself in a minute: each CPU, pairs of them, memory, disk; what became slower, who slows it", declare_probe},
    {"repeat", "record a program many times, alone or in turns with another: how the runs scatter, how they differ", declare_repeat},
    {"report", "print the diagnosis of a recorded run: text, JSON or HTML", declare_report},
    {"run", "record a program, then print the diagnosis", declare_run},
    {"scale", "run a program at several numbers of threads, ranks or copies, or sizes: the best one, and what stops it", declare_scale},
    {"simulate", "simulate what noise costs a bulk-synchronous job, and what removing it gains", declare_simulate},
    {"system", "show whose time it is on the CPUs of this machine: by program, by routine of the kernel, by CPU", declare_system},
    {"topo", "show how far apart a job's ranks that talk are in the network, what its links carry, and a better order", declare_topo},
    {"try", "try what the findings advise at launch, and measure what each cure gains", declare_try},
};
} // namespace

std::span<const CommandEntry> command_registry() { return commands; }

} // namespace plumb
