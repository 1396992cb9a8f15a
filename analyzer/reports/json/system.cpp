#include "reports/json/system.h"

#include "reports/words/system_words.h"

namespace plumb {

namespace {

Json time_object(const CpuTime& time) {
    return {{"user_seconds", number(time.user_s)},
            {"kernel_seconds", number(time.system_s)},
            {"interrupt_seconds", number(time.interrupt_s)},
            {"steal_seconds", number(time.steal_s)},
            {"idle_seconds", number(time.idle_s)}};
}

} // namespace

Json system_object(const Report& report) {
    const SystemSummary& system = *report.system;
    Json cpus = Json::array(), programs = Json::array(), routines = Json::array(), interrupts = Json::array(),
         memory = Json::array();
    for (const SystemCpu& cpu : system.cpus) {
        Json each = time_object(cpu.time);
        each["cpu"] = cpu.cpu;
        cpus.push_back(std::move(each));
    }
    for (const SystemProgram& program : system.programs)
        programs.push_back({{"name", program.name},
                            {"is_kernel", program.is_kernel},
                            {"processes", program.processes},
                            {"pid", program.processes == 1 ? Json(program.pid) : Json(nullptr)},
                            {"user_seconds", number(program.user_s)},
                            {"kernel_seconds", number(program.system_s)},
                            {"waiting_seconds", number(program.waiting_s)},
                            {"switches", number(program.switches)},
                            {"kernel_routine", program.routine}});
    for (const KernelRoutine& routine : system.routines)
        routines.push_back({{"name", routine.name},
                            {"seconds", number(routine.seconds)},
                            {"program", routine.program},
                            {"program_seconds", number(routine.of_program_s)}});
    for (const SystemInterrupts& source : system.interrupts)
        interrupts.push_back({{"name", source.name}, {"per_second", number(source.rate_hz)}});
    for (const SystemMemory& node : system.memory)
        memory.push_back({{"node", node.node},
                          {"total_bytes", number(node.total_bytes)},
                          {"free_bytes", number(node.free_bytes)},
                          {"file_bytes", number(node.file_bytes)},
                          {"anonymous_bytes", number(node.anonymous_bytes)}});
    return {{"verdict", system_verdict(system)},
            {"seconds", number(system.seconds)},
            {"time", time_object(system.time)},
            {"unseen_seconds", number(system.unseen_s)},
            {"is_sampled", system.is_sampled},
            {"kernel_sampled_seconds", number(system.kernel_sampled_s)},
            {"waiting_threads", number(system.waiting_threads)},
            {"switches_per_second", number(system.switches_hz)},
            {"cpus", std::move(cpus)},
            {"programs", std::move(programs)},
            {"kernel_routines", std::move(routines)},
            {"interrupts", std::move(interrupts)},
            {"memory", std::move(memory)}};
}

} // namespace plumb
