// Whose time it was on the CPUs of a machine that was looked at.
#include "reports/html/sections.h"
#include "reports/words/system_words.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <string>
#include <vector>

namespace plumb {

namespace {

constexpr size_t kMostSystemRows = 200, kMostSources = 40;

void put_system_table(HtmlWriter& html, const char* title, std::initializer_list<const char*> columns,
                      const std::vector<std::vector<std::string>>& rows) {
    if (rows.empty())
        return;
    html.element("h3", title).open("table").open("thead").open("tr");
    for (const char* column : columns)
        html.element("th", column, {{"scope", "col"}});
    html.close().close().open("tbody");
    for (const std::vector<std::string>& row : rows) {
        html.open("tr").element("th", row.front(), {{"scope", "row"}});
        for (size_t i = 1; i < row.size(); ++i)
            html.element("td", row[i], {{"class", "number"}});
        html.close();
    }
    html.close().close();
}

std::string of_all(double seconds, double all_s) { return format_fraction(all_s > 0 ? seconds / all_s : 0); }

} // namespace

void put_html_system(HtmlWriter& html, const Report& report) {
    const SystemSummary& system = *report.system;
    const double all_s = system.time.all_s();
    html.open("section", {{"id", "system"}}).element("h2", "Whose time it was");
    std::vector<std::vector<std::string>> rows;
    for (const SystemProgram& program : system.programs)
        if (rows.size() < kMostSystemRows)
            rows.push_back({system_program_name(program), of_all(program.cpu_s(), all_s), of_all(program.user_s, all_s),
                            of_all(program.system_s, all_s),
                            system.seconds > 0 ? three_digits(program.waiting_s / system.seconds) : "", program.routine});
    put_system_table(html, "By program",
                     {"program", "of the CPUs", "user", "kernel", "threads without CPU, on average", "in the kernel mostly"},
                     rows);
    rows.clear();
    for (const KernelRoutine& routine : system.routines)
        if (rows.size() < kMostSystemRows)
            rows.push_back({routine.name, of_all(routine.seconds, system.kernel_sampled_s), format_seconds(routine.seconds),
                            routine.program});
    put_system_table(html, "By routine of the kernel", {"routine", "of the kernel's time", "time", "mostly for"}, rows);
    rows.clear();
    for (const SystemCpu& cpu : system.cpus)
        rows.push_back({std::to_string(cpu.cpu), of_all(cpu.time.user_s, cpu.time.all_s()),
                        of_all(cpu.time.system_s, cpu.time.all_s()), of_all(cpu.time.interrupt_s, cpu.time.all_s()),
                        of_all(cpu.time.steal_s, cpu.time.all_s()), of_all(cpu.time.idle_s, cpu.time.all_s())});
    put_system_table(html, "By CPU", {"CPU", "user", "kernel", "interrupts", "taken by the host", "idle"}, rows);
    rows.clear();
    for (const SystemInterrupts& source : system.interrupts)
        if (rows.size() < kMostSources)
            rows.push_back({source.name, three_digits(source.rate_hz)});
    put_system_table(html, "Interrupts", {"source", "a second"}, rows);
    for (const SystemMemory& node : system.memory)
        html.element("p", "Memory: " + system_memory_words(node, system.memory.size()));
    html.close();
}

} // namespace plumb
