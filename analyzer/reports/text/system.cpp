#include "reports/text/system.h"

#include "reports/words/system_words.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

using Align = Column::Align;
using SystemRows = std::vector<std::vector<std::string>>;

constexpr size_t kProgramRows = 16, kRoutineRows = 10, kFewRows = 5, kSystemCpuRows = 16, kSourceRows = 6;
constexpr double kLeastProgram = 0.001; // of the CPUs' time

std::string of_all(double seconds, double all_s) { return format_fraction(all_s > 0 ? seconds / all_s : 0); }

// Threads, on average.
std::string waiting_words(double waiting_s, double seconds) {
    const double threads = seconds > 0 ? waiting_s / seconds : 0;
    return threads < 0.005 ? "" : three_digits(threads);
}

void put_programs(TextCanvas& canvas, const SystemSummary& system, size_t most_rows) {
    const double all_s = system.time.all_s();
    SystemRows rows{{"of the CPUs", "user", "kernel", "without CPU", "program", "in the kernel mostly"}};
    for (const SystemProgram& program : system.programs)
        if (rows.size() <= most_rows && program.cpu_s() >= kLeastProgram * all_s)
            rows.push_back({of_all(program.cpu_s(), all_s), of_all(program.user_s, all_s), of_all(program.system_s, all_s),
                            waiting_words(program.waiting_s, system.seconds), system_program_name(program), program.routine});
    if (rows.size() == 1)
        return;
    canvas.heading("By program");
    canvas.table(2,
                 {{.align = Align::right, .limit = 11},
                  {.align = Align::right, .limit = 7},
                  {.align = Align::right, .limit = 7},
                  {.align = Align::right, .limit = 12},
                  {.limit = 30},
                  {.limit = 28, .ink = Ink::faint}},
                 rows);
}

void put_routines(TextCanvas& canvas, const SystemSummary& system, size_t most_rows) {
    if (system.routines.empty())
        return;
    SystemRows rows{{"of the kernel's time", "routine", "mostly for"}};
    for (const KernelRoutine& routine : system.routines)
        if (rows.size() <= most_rows)
            rows.push_back({of_all(routine.seconds, system.kernel_sampled_s), routine.name, routine.program});
    canvas.heading("By routine of the kernel");
    canvas.table(2, {{.align = Align::right, .limit = 20}, {.limit = 48}, {.limit = 24}}, rows);
}

void put_cpus(TextCanvas& canvas, const SystemSummary& system) {
    if (system.cpus.size() < 2)
        return;
    std::vector<const SystemCpu*> busiest;
    for (const SystemCpu& cpu : system.cpus)
        busiest.push_back(&cpu);
    std::ranges::stable_sort(busiest, {},
                             [](const SystemCpu* cpu) { return cpu->time.idle_s / std::max(1e-9, cpu->time.all_s()); });
    SystemRows rows{{"CPU", "user", "kernel", "interrupts", "taken by the host", "idle"}};
    for (const SystemCpu* cpu : busiest)
        if (rows.size() <= kSystemCpuRows)
            rows.push_back({fmt::format("{}", cpu->cpu), of_all(cpu->time.user_s, cpu->time.all_s()),
                            of_all(cpu->time.system_s, cpu->time.all_s()), of_all(cpu->time.interrupt_s, cpu->time.all_s()),
                            of_all(cpu->time.steal_s, cpu->time.all_s()), of_all(cpu->time.idle_s, cpu->time.all_s())});
    canvas.heading("By CPU, the busiest first");
    const Column figure{.align = Align::right, .limit = 18};
    canvas.table(2, {{.align = Align::right, .limit = 6}, figure, figure, figure, figure, figure}, rows);
    if (system.cpus.size() > kSystemCpuRows)
        canvas.paragraph("", 2,
                         {{fmt::format("and {} more (--format json has all)", system.cpus.size() - kSystemCpuRows), Ink::faint}});
}

void put_sources(TextCanvas& canvas, const SystemSummary& system) {
    std::string words;
    for (const SystemInterrupts& source : system.interrupts)
        if (source.rate_hz >= 1 && &source < system.interrupts.data() + kSourceRows)
            words += fmt::format("{}{} {}/s", words.empty() ? "" : ", ", source.name, three_digits(source.rate_hz));
    if (!words.empty())
        canvas.paragraph("interrupts", 12, {{words}});
    for (const SystemMemory& node : system.memory)
        canvas.paragraph("memory", 12, {{system_memory_words(node, system.memory.size())}});
}

} // namespace

void put_system(TextCanvas& canvas, const SystemSummary& system, bool full) {
    put_programs(canvas, system, full ? kProgramRows : kFewRows);
    put_routines(canvas, system, full ? kRoutineRows : kFewRows);
    if (!full)
        return;
    put_cpus(canvas, system);
    canvas.blank();
    put_sources(canvas, system);
}

} // namespace plumb
