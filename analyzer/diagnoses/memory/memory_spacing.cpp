// Threads that are packed more densely than their memory: each takes one CPU of its node, but needs the memory of several,
// so the node is full before they have what they need, and the rest lands on nodes that are far away. They have to be
// placed further apart, which no program needs to be changed for.
#include "analyses/lines/launch_command.h"
#include "analyses/memory/numa_headroom.h"
#include "diagnoses/memory/memory_finding.h"
#include "diagnoses/memory/spacing.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace plumb {

namespace {

constexpr size_t kMostNamed = 64;      // threads whose needs are listed
constexpr double kWithoutFaults = 0.9; // trust in who needs how much when no page faults show it

// The threads of a host, what they need, and how to place them.
struct Job {
    const model::Host* host = nullptr;
    HostHeadroom room;
    NumaHeadroom worst;               // the node that lacks most
    std::vector<uint64_t> needs;  // by position
    size_t threads_each = 1;      // positions of each process
    size_t processes = 0, ranks = 0;
    size_t confined = 0;          // processes that may not use all CPUs of the run, and were not placed by plumb
    Spacing spacing;

    const char* unit(bool many) const {
        if (needs.size() > processes)
            return many ? "threads" : "thread";
        return ranks == processes ? (many ? "ranks" : "rank") : many ? "processes" : "process";
    }
};

model::CpuSet allowed_on(const model::Host& host) {
    if (!host.allowed_cpus.empty())
        return host.allowed_cpus;
    model::CpuSet all;
    for (const model::NumaNode& node : host.nodes)
        all.insert(all.end(), node.cpus.begin(), node.cpus.end());
    std::ranges::sort(all);
    return all;
}

// Each process owns as many positions as the one with the most threads: so `--threads-per-process` deals them out.
void deal_positions(const model::Run& run, Job& job) {
    std::vector<std::vector<uint64_t>> by_process;
    std::set<size_t> confined;
    size_t last = SIZE_MAX;
    for (const Tenant& tenant : job.room.tenants) {
        const model::Process& process = run.processes[tenant.process];
        if (tenant.process != last) {
            by_process.emplace_back();
            job.ranks += process.rank >= 0;
        }
        last = tenant.process;
        by_process.back().push_back(tenant.bytes);
        const model::Thread& thread = process.threads[tenant.thread];
        if (!thread.placement && !thread.allowed_cpus.empty() && thread.allowed_cpus != allowed_on(*job.host))
            confined.insert(tenant.process);
    }
    job.processes = by_process.size();
    job.confined = confined.size();
    for (const auto& threads : by_process)
        job.threads_each = std::max(job.threads_each, threads.size());
    for (auto& threads : by_process) {
        if (by_process.size() > 1)
            threads.resize(job.threads_each);
        job.needs.insert(job.needs.end(), threads.begin(), threads.end());
    }
}

Job job_on(const model::Run& run, const model::Host& host) {
    Job job;
    job.host = &host;
    job.room = headroom_of(run, host);
    std::map<int, SpacingNode> nodes;
    std::map<int, int> node_of_cpu;
    for (const model::NumaNode& node : host.nodes) {
        nodes[node.node].cpu_count = static_cast<int>(node.cpus.size());
        for (const int cpu : node.cpus)
            node_of_cpu[cpu] = node.node;
    }
    double most = -1;
    for (const auto& [number, node] : job.room.nodes) {
        nodes[number].room_bytes = static_cast<uint64_t>(kUsableRoom * static_cast<double>(node.room_bytes));
        const double lack = static_cast<double>(node.needed_bytes) - static_cast<double>(node.room_bytes);
        if (node.overflows() && (most < 0 || lack > most)) {
            most = std::max(0.0, lack);
            job.worst = node;
        }
    }
    deal_positions(run, job);
    std::vector<int> cpu_nodes;
    for (const int cpu : allowed_on(host)) {
        const auto node = node_of_cpu.find(cpu);
        cpu_nodes.push_back(node == node_of_cpu.end() ? -1 : node->second);
    }
    job.spacing = spacing_for(job.needs, cpu_nodes, nodes);
    return job;
}

class MemorySpacing : public Diagnosis {
  public:
    const char* id() const override { return "memory-spacing"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const MemoryCase one = joined(memory_cases(input, MemoryCause::crowded));
        if (one.objects.empty())
            return {};
        // Of several hosts the one where most time is lost is described: they have one command, and mostly one load.
        const model::Host* host = host_of(input.run, input.run.processes[one.objects.front()->process]);
        const bool told = std::ranges::any_of(host->nodes, [](const model::NumaNode& node) { return !node.distances.empty(); });
        std::optional<Finding> finding = memory_finding(input, one, id(), !told);
        if (!finding)
            return {};
        const Job job = job_on(input.run, *host);
        if (!job.room.touch_known)
            finding->confidence *= kWithoutFaults;
        describe(input.run, one, job, *finding);
        add_advice(input.run, job, *finding);
        return {std::move(*finding)};
    }

  private:
    // All objects that found no room, as one: they have one cause and one cure.
    static MemoryCase joined(const std::vector<MemoryCase>& cases) {
        MemoryCase all;
        for (const MemoryCase& one : cases)
            for (const MemoryObject* object : one.objects) {
                if (all.objects.empty())
                    all.verdict = one.verdict;
                all.add(*object);
            }
        std::ranges::stable_sort(all.objects, std::greater<>(), &MemoryObject::remote_s);
        return all;
    }

    static std::string name_of(const model::Run& run, const Job& job, const Tenant& tenant) {
        const model::Process& process = run.processes[tenant.process];
        std::string name = process.rank >= 0 ? fmt::format("rank {}", process.rank)
                                             : fmt::format("{} ({})", process.name, process.pid);
        if (job.needs.size() > job.processes)
            name += fmt::format(", thread {}", process.threads[tenant.thread].tid);
        return name;
    }

    static void describe(const model::Run& run, const MemoryCase& one, const Job& job, Finding& finding) {
        size_t placed = 0;
        uint64_t largest = 0;
        std::vector<std::string> needs, objects;
        for (const Tenant& tenant : job.room.tenants) {
            if (tenant.bytes == 0)
                continue;
            placed += tenant.main_node() == job.worst.node;
            largest = std::max(largest, tenant.bytes);
            if (needs.size() < kMostNamed)
                needs.push_back(fmt::format("{}: {} on node {}", name_of(run, job, tenant), megabytes(tenant.bytes),
                                            tenant.main_node()));
        }
        for (const MemoryObject* object : one.objects)
            objects.push_back(object->memory.name);
        const bool one_alone = placed == 1;
        finding.title = fmt::format("{} {} on node {} need{} {} of memory, and the node has {} for {}: the rest went to "
                                    "other nodes",
                                    placed, job.unit(!one_alone), job.worst.node, one_alone ? "s" : "",
                                    megabytes(job.worst.needed_bytes), megabytes(job.worst.room_bytes),
                                    one_alone ? "it" : "them");
        finding.subject = {"node", std::to_string(job.worst.node), {{"host", job.host->name}, {"objects", objects}}};
        auto& evidence = finding.evidence;
        evidence["needed_bytes"] = static_cast<int64_t>(job.worst.needed_bytes);
        evidence["room_bytes"] = static_cast<int64_t>(job.worst.room_bytes);
        if (job.worst.shared_bytes > 0)
            evidence["shared_bytes"] = static_cast<int64_t>(job.worst.shared_bytes);
        evidence["node_bytes"] = static_cast<int64_t>(job.worst.total_bytes);
        evidence["spilled_bytes"] = static_cast<int64_t>(job.worst.spill.spilled_bytes);
        evidence["needs_known_from"] = std::string(job.room.touch_known ? "page faults" : "time on the node's CPUs");
        evidence["needs"] = needs;
        evidence["largest_need_bytes"] = static_cast<int64_t>(largest);
        evidence["one_cpu_has_bytes"] = static_cast<int64_t>(job.spacing.cpu_share_bytes);
        evidence["allowed_cpu_count"] = static_cast<int64_t>(allowed_on(*job.host).size());
        if (job.spacing.cpus > 0) {
            evidence["spacing_cpu_count"] = static_cast<int64_t>(job.spacing.cpus);
            evidence["spanned_cpu_count"] = static_cast<int64_t>(job.spacing.span);
        }
        if (job.spacing.cpus_needed > 0)
            evidence["needed_cpu_count"] = static_cast<int64_t>(job.spacing.cpus_needed);
    }

    static void add_advice(const model::Run& run, const Job& job, Finding& finding) {
        if (job.spacing.cpus > 0)
            finding.advice.push_back(place_apart(run, job));
        else if (!job.spacing.list.empty())
            finding.advice.push_back(place_by_list(run, job));
        else
            finding.advice.push_back(ask_for_more(job));
        if (job.ranks > 0 && job.spacing.cpus > 1)
            finding.advice.push_back(ask_the_launcher(job));
        if (job.confined > 0 && job.spacing.cpus_needed == 0)
            finding.advice.push_back({"Remove what binds them to their CPUs now",
                                      fmt::format("{} of the processes may use only a part of the run's CPUs: look for "
                                                  "taskset, numactl or a launcher's binding option",
                                                  job.confined),
                                      "launch", ""});
    }

    static std::string options(const Job& job, const std::string& how) {
        return fmt::format("--pin={} --bind-memory{}", how,
                           job.processes > 1 && job.threads_each > 1
                               ? fmt::format(" --threads-per-process={}", job.threads_each)
                               : "");
    }

    static Advice place_apart(const model::Run& run, const Job& job) {
        const int distance = job.spacing.cpus;
        const std::string formula =
            job.processes > 1 && job.threads_each > 1
                ? fmt::format("thread t of {} r on relative CPU {}*({}r+t)", job.ranks ? "rank" : "process", distance,
                              job.threads_each)
                : fmt::format("{} n on relative CPU {}n", job.unit(false), distance);
        std::string how = fmt::format("{}, with its memory on that CPU's node: this takes {} of the {} CPUs that the run may "
                                      "use; plumb pin --spread {} --bind-memory does the same without recording",
                                      formula, job.spacing.span, allowed_on(*job.host).size(), distance);
        if (job.spacing.larger_than_node)
            how += "; one of them needs more memory than a node has: the rest goes to the next node, which no other uses at "
                   "this spacing";
        return {fmt::format("Place the {} {} CPU{} apart", job.unit(true), distance, distance == 1 ? "" : "s"), how, "launch",
                plumb_run_line(run, options(job, fmt::format("spread:{}", distance)))};
    }

    static Advice place_by_list(const model::Run& run, const Job& job) {
        return {"Place them on nodes with enough memory",
                "the nodes differ too much for one spacing: with this list each finds the memory it needs on its own node",
                "launch", plumb_run_line(run, options(job, fmt::format("list:{}", fmt::join(job.spacing.list, ","))))};
    }

    static Advice ask_for_more(const Job& job) {
        const size_t allowed = allowed_on(*job.host).size();
        size_t of_machine = 0;
        for (const model::NumaNode& node : job.host->nodes)
            of_machine += node.cpus.size();
        std::string how = fmt::format("all {} together need {}, which is the memory of {} CPUs at {} each, and the run may use "
                                      "{}",
                                      job.unit(true), megabytes(total(job.needs)), job.spacing.cpus_needed,
                                      megabytes(job.spacing.cpu_share_bytes), allowed);
        how += of_machine >= job.spacing.cpus_needed && of_machine > allowed
                   ? fmt::format(" of this machine's {}", of_machine)
                   : fmt::format(" (the machine has {}): use more machines, or fewer {} on each", of_machine, job.unit(true));
        return {fmt::format("Ask for at least {} CPUs for them, and place them apart", job.spacing.cpus_needed), how,
                "launch", ""};
    }

    static Advice ask_the_launcher(const Job& job) {
        const size_t cpus = static_cast<size_t>(job.spacing.cpus) * job.threads_each;
        std::string how = fmt::format(
            "Open MPI: mpirun --map-by slot:PE={0} --bind-to core; Slurm: srun --cpus-per-task={0} --cpu-bind=cores "
            "--mem-bind=local; MPICH: mpiexec -bind-to core:{0}; Intel MPI: I_MPI_PIN_DOMAIN={0}",
            cpus);
        if (job.threads_each > 1)
            how += "; and OMP_PROC_BIND=spread, so that a rank's threads spread over its CPUs";
        return {fmt::format("Or let the launcher give each rank {} CPUs", cpus), how, "launch", ""};
    }

    static uint64_t total(const std::vector<uint64_t>& needs) {
        uint64_t sum = 0;
        for (const uint64_t need : needs)
            sum += need;
        return sum;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_memory_spacing() { return std::make_unique<MemorySpacing>(); }

} // namespace plumb
