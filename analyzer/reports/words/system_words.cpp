#include "reports/words/system_words.h"

#include "support/figures.h"

#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kMuchKernel = 0.05; // of the time that was used
constexpr double kMuchUnseen = 0.01; // of all time: less is how coarsely the kernel counts

} // namespace

std::string system_verdict(const SystemSummary& system) {
    const double all_s = system.time.all_s();
    const auto part = [all_s](double seconds) { return format_fraction(all_s > 0 ? seconds / all_s : 0); };
    std::string words = fmt::format("{} in {}: {} user, {} kernel, {} interrupts, {} taken by the host of this machine, {} idle.",
                                    counted(system.cpus.size(), "CPU", "CPUs"), format_seconds(system.seconds),
                                    part(system.time.user_s), part(system.time.system_s), part(system.time.interrupt_s),
                                    part(system.time.steal_s), part(system.time.idle_s));
    if (!system.routines.empty() && system.kernel_sampled_s > 0 && system.time.system_s >= kMuchKernel * system.time.busy_s()) {
        const KernelRoutine& first = system.routines.front();
        words += fmt::format(" {} of the kernel's time is in {}, mostly for {}.",
                             format_fraction(first.seconds / system.kernel_sampled_s), first.name, first.program);
    }
    words +=
        fmt::format(" On average {} could run and had no CPU; {} switches a second.",
                    system.waiting_threads < 0.05 ? "no thread" : fmt::format("{} threads", three_digits(system.waiting_threads)),
                    format_count(system.switches_hz));
    if (!system.is_sampled)
        words += " Nothing was sampled: times of programs are those of their threads, by the CPU on which each ran last.";
    if (system.unseen_s >= kMuchUnseen * all_s && all_s > 0)
        words += fmt::format(" {} of the CPUs' time was of programs that were not seen: they came and went between two looks, or are "
                             "hidden from here (as those outside a container).",
                             part(system.unseen_s));
    return words;
}

std::string system_program_name(const SystemProgram& program) {
    const std::string name = program.name.empty() ? "?" : program.name;
    if (program.is_kernel)
        return name + " (kernel)";
    return program.processes == 1 ? fmt::format("{} ({})", name, program.pid)
                                  : fmt::format("{} ({})", name, counted(program.processes, "process", "processes"));
}

std::string system_memory_words(const SystemMemory& node, size_t nodes) {
    return fmt::format("{}{}: {} free, {} of files, {} of programs", nodes > 1 ? fmt::format("node {} has ", node.node) : "",
                       format_bytes(node.total_bytes), format_bytes(node.free_bytes), format_bytes(node.file_bytes),
                       format_bytes(node.anonymous_bytes));
}

} // namespace plumb
