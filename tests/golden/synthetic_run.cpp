#include "synthetic_run.h"
#include "../unit/unaligned_site.h"
#include "support/error.h"
#include "synthetic_memory.h"
#include "synthetic_mpi.h"

#include <cmath>
#include <limits>

namespace plumb::synthetic {

namespace {

constexpr uint64_t kSecond = 1'000'000'000, kTenth = kSecond / 10;
const std::string hostile =
    "</script><img src=x onerror=\"document.title='owned'\">'&\033[31m\xff\xfe\xe2\x80\xae";

model::Module module_at(uint64_t start, const std::string& path, model::Module::Kind kind) {
    model::Module module;
    module.kind = kind;
    module.path = path;
    module.start = start;
    module.end = start + 0x10000;
    return module;
}

// main -> compute -> sin in libm; the same leaf without the library; a system call.
void add_paths(model::Process& process) {
    process.modules = {module_at(0x10000, "/home/user/app", model::Module::Kind::program),
                       module_at(0x40000, "/lib/x86_64-linux-gnu/libm.so.6", model::Module::Kind::library)};
    process.paths = {{},
                     {0, 0x10000 + 50, false, false, false},
                     {1, 0x10000 + 12, false, false, false},
                     {2, 0x40000 + 7, true, false, false},
                     {1, 0x10000 + 13, true, false, false},
                     {1, 0x10000 + 21, true, false, false}};
}

model::Thread make_thread(uint32_t tid, const std::string& name, uint64_t begin_ns, int tenths, int cpu,
                          double busy, double waiting) {
    model::Thread thread;
    thread.tid = tid;
    thread.name = name;
    thread.start_ns = begin_ns;
    thread.end_ns = begin_ns + static_cast<uint64_t>(tenths) * kTenth;
    for (int index = 0; index < tenths; index++) {
        model::ThreadInterval interval;
        interval.begin_ns = begin_ns + static_cast<uint64_t>(index) * kTenth;
        interval.end_ns = interval.begin_ns + kTenth;
        interval.cpu = index > tenths * 3 / 4 && cpu == 0 ? 1 : cpu;
        interval.run_ns = static_cast<uint64_t>(busy * static_cast<double>(kTenth));
        interval.run_delay_ns = static_cast<uint64_t>(waiting * static_cast<double>(kTenth));
        interval.state = 'R';
        thread.run_ns += interval.run_ns;
        thread.run_delay_ns += interval.run_delay_ns;
        thread.intervals.push_back(interval);
    }
    return thread;
}

void add_samples(model::Process& process, uint32_t thread, uint64_t samples) {
    const auto site = [&](uint32_t path, uint64_t count, uint64_t kernel) {
        process.samples.push_back({thread, path, count, count * 10'000'000, kernel});
    };
    site(3, samples * 6 / 10, 0);
    site(4, samples * 3 / 10, 0);
    site(5, samples / 10, samples / 20);
}

model::Host make_host(uint64_t begin_ns, int tenths, int cpus, int busy_cpus) {
    model::Host host;
    host.name = "node042";
    host.cpu_count = cpus;
    for (int cpu = 0; cpu < cpus; cpu++)
        host.allowed_cpus.push_back(cpu);
    for (int index = 0; index < tenths; index++)
        for (int cpu = 0; cpu < cpus; cpu++) {
            model::CpuInterval interval;
            interval.cpu = cpu;
            interval.allowed = true;
            interval.begin_ns = begin_ns + static_cast<uint64_t>(index) * kTenth;
            interval.end_ns = interval.begin_ns + kTenth;
            interval.run_own_ns = cpu < busy_cpus ? kTenth * 9 / 10 : 0;
            interval.user_ns = interval.run_own_ns + kTenth / 25 * static_cast<uint64_t>(1 + index % 3);
            interval.steal_ns = index % 7 == 0 ? kTenth / 20 : 0;
            interval.interrupt_ns = kTenth / 100;
            host.cpu_intervals.push_back(interval);
        }
    host.recorder_cpu_ns = 60'000'000;
    host.samples = 4'000;
    host.sample_cost_ns = 3'000;
    host.sample_period_ns = 10'000'000;
    return host;
}

model::Run make_base(int tenths) {
    model::Run run;
    run.directory = "/home/user/plumb-app-20260101";
    run.command = {"./app", "-n", "4", "two words"};
    run.plumb_version = "0.1.0";
    run.start_unix_ns = 1'767'225'600 * kSecond + 123'000'000;
    run.begin_ns = 1'000 * kSecond;
    run.end_ns = run.begin_ns + static_cast<uint64_t>(tenths) * kTenth;
    run.exit_status = 0;
    run.recorded_bytes = 300'000;
    run.evidence = {{"perf-sampling", model::Evidence::State::ok, "cpu-clock at 100 Hz", ""},
                    {"procfs", model::Evidence::State::ok, "every 100 ms", ""},
                    {"pmu", model::Evidence::State::missing,
                     "this machine shows no hardware counters to its guests",
                     "run on bare metal, or pass the counters through to the virtual machine"},
                    {"heap", model::Evidence::State::limited, "sampled every 512 KiB", "--heap=full"}};
    return run;
}

model::Process make_process(uint32_t pid, const std::string& executable, const model::Run& run) {
    model::Process process;
    process.pid = pid;
    process.host = "node042";
    process.executable = executable;
    process.start_ns = run.begin_ns;
    process.end_ns = run.end_ns;
    process.has_shim = process.shim_closed = true;
    process.own_cost_ns = 2'000'000;
    add_paths(process);
    process.heap.recorded = true;
    process.heap.sites = {{3, 1'000'000, 64'000'000, 1'000'000, 64'000'000, 900'000, 64, 120, 0},
                          {4, 12, 48'000'000, 10, 40'000'000, 0, 8'000'000, 12, 0}};
    return process;
}

model::Run make_stacked() {
    constexpr int tenths = 118;
    model::Run run = make_base(tenths);
    run.hosts = {make_host(run.begin_ns, tenths, 2, 1)};
    model::Process process = make_process(4242, "/home/user/app", run);
    process.threads.push_back(make_thread(4242, "app", run.begin_ns, tenths, 1, 0.01, 0));
    for (uint32_t worker = 0; worker < 4; worker++) {
        process.threads.push_back(make_thread(4243 + worker, "worker", run.begin_ns, tenths, 0, 0.24, 0.74));
        process.threads.back().placement =
            model::Placement{worker, worker == 3 ? -1 : 0, -1, worker == 3 ? 22 : 0};
        add_samples(process, worker + 1, 280);
    }
    // As a machine with counters would have them: one line waits for data, most of all in one worker.
    process.counter_sites = {{"cycles", 1, 3, 90, 2'160'000'000}, {"cycles", 2, 4, 60, 1'440'000'000}, {"memory stalls", 1, 3, 80, 1'920'000'000},
                             {"memory stalls", 2, 4, 10, 240'000'000}, {"page faults", 3, 3, 5, 485}};
    process.counter_samples = {{"cycles", 150}, {"memory stalls", 90}};
    process.regions = {{.name = "sweep", .entries = 40, .time_ns = 6'000'000'000, .longest_ns = 200'000'000, .threads = 1,
                        .counter_samples = {{"cycles", 120}, {"memory stalls", 87}}},
                       {.name = "exchange", .entries = 40, .time_ns = 1'000'000'000, .longest_ns = 30'000'000, .threads = 1,
                        .counter_samples = {{"cycles", 6}}}};
    run.processes = {process};
    return run;
}

model::Run make_clean() {
    constexpr int tenths = 40;
    model::Run run = make_base(tenths);
    run.hosts = {make_host(run.begin_ns, tenths, 2, 2)};
    model::Process process = make_process(77, "/home/user/app", run);
    process.threads = {make_thread(77, "app", run.begin_ns, tenths, 1, 0.97, 0.01)};
    add_samples(process, 0, 390);
    run.processes = {process};
    return run;
}

model::Run make_killed() {
    model::Run run = make_clean();
    run.complete = false;
    run.exit_status.reset();
    run.processes[0].shim_closed = false;
    run.processes[0].wait_status = 9;
    run.processes[0].samples.resize(1);
    run.processes[0].samples[0].samples = 20;
    run.notes = {"node042.trace: the last chunk was cut off; 12 records of it were read."};
    return run;
}

model::Run make_hostile() {
    model::Run run = make_stacked();
    run.command = {hostile, "--" + hostile};
    run.directory = "/tmp/" + hostile;
    run.hosts[0].name = hostile;
    run.processes[0].executable = "/x/" + hostile;
    for (model::Thread& thread : run.processes[0].threads)
        thread.name = hostile;
    run.processes[0].modules[1].path = "/lib/" + hostile;
    run.evidence.push_back({hostile, model::Evidence::State::missing, hostile, hostile});
    run.notes = {hostile};
    return run;
}

// /pair/ holds an integer and then real*8: x is swept 4 bytes off; a packed record in a heap block; a split lock; vector
// loads that only address sampling sees.
model::Run make_unaligned() {
    model::Run run = make_clean();
    model::Process& process = run.processes[0];
    model::Alignment& alignment = process.alignment;
    alignment.mode = model::Alignment::Mode::exact;
    alignment.sites = {
        testing::unaligned_site(0x10000 + 12, {.width = 8, .load = true}, 0x20000 + 4, 1'000'000, 8),
        testing::unaligned_site(0x10000 + 13, {.width = 8, .store = true}, 0x20000 + 4, 1'000'000, 8),
        testing::unaligned_site(0x10000 + 50, {.width = 4, .load = true}, 0x900005, 250'000, 13),
        testing::unaligned_site(0x10000 + 21, {.width = 8, .load = true, .store = true, .locked = true}, 0x900000 + 60, 1'200, 64)};
    for (size_t heap : {2, 3}) {
        model::UnalignedAddress& address = alignment.sites[heap].addresses[0];
        address.block = model::UnalignedAddress::Block::heap;
        address.block_start = 0x900000;
        address.block_bytes = 4'000'000;
        address.block_path = 1;
    }
    model::SampledAccess access;
    access.address = 0x10000 + 60;
    access.kind = {.width = 16, .load = true, .packed = true};
    access.samples = 80;
    access.time_ns = 800'000'000;
    access.unaligned = 80;
    access.line_crossings = 20;
    process.sampled_accesses = {access};
    run.hosts[0].access_penalties =
        model::AccessPenalties{{0.5, 0.5, 0.75, 2.0}, {0.5, 0.5, 1.0, 17.0}, 7, 350'007, "split_lock_mitigate = 1"};
    run.evidence.push_back({"alignment-trap", model::Evidence::State::ok, "every hit counted", ""});
    return run;
}

model::Run make_wide() {
    constexpr int tenths = 100, cpus = 256, threads = 2'000;
    model::Run run = make_base(tenths);
    run.hosts = {make_host(run.begin_ns, tenths, cpus, 200)};
    model::Process process = make_process(9, "/home/user/app", run);
    for (uint32_t index = 0; index < threads; index++) {
        process.threads.push_back(make_thread(10 + index, "worker", run.begin_ns, tenths,
                                              static_cast<int>(index % cpus), 0.001 * (index % 150),
                                              index % 100 == 0 ? 0.8 : 0.01));
        add_samples(process, index, 20);
    }
    run.processes = {process};
    return run;
}

model::Run make_mpi(int size) {
    model::Run run = make_clean();
    add_mpi_job(run, size);
    return run;
}

model::Run make_memory(int nodes, int objects) {
    model::Run run = make_clean();
    add_memory_nodes(run, nodes, objects);
    return run;
}

class LineResolver : public model::SourceResolver {
  public:
    LineResolver(std::string kind, std::string file) : kind_(std::move(kind)), file_(std::move(file)) {}

    std::vector<model::SourceFrame> resolve(const model::Module& module, uint64_t address) override {
        const std::string name = module.path.substr(module.path.rfind('/') + 1);
        const uint64_t offset = address - module.start;
        if (module.kind != model::Module::Kind::program)
            return {{kind_ == "hostile" ? hostile : "sin", "", 0, name, false}};
        const std::string function = offset > 40 ? "main" : "compute(double*, int)";
        return {{kind_ == "hostile" ? hostile + function : function, kind_ == "hostile" ? hostile : file_,
                 static_cast<uint32_t>(kind_.starts_with("memory") ? offset : offset % 100), name, false}};
    }

    std::optional<model::DataName> name_static(const model::Module&, uint64_t address, uint32_t, uint64_t) override {
        if (address < 0x20000 || address >= 0x900000)
            return {};
        model::DataName name;
        name.kind = model::DataName::Kind::common_block;
        name.name = "/pair/";
        name.member = "x(1)";
        name.offset = address - 0x20000;
        name.member_offset = 4;
        name.member_alignment = 8;
        return name;
    }

    std::optional<model::DataName> name_by_type(const model::Module&, const model::DataAccess& access) override {
        if (access.width != 4)
            return {};
        model::DataName name;
        name.kind = model::DataName::Kind::pointed_structure;
        name.name = "struct record";
        name.member = "weight";
        name.member_offset = 5;
        name.member_alignment = 4;
        name.packed = true;
        return name;
    }

  private:
    std::string kind_, file_;
};

class Oversubscribed : public Diagnosis {
  public:
    const char* id() const override { return "cpu-oversubscribed"; }
    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        Finding finding;
        finding.id = id();
        finding.title = "4 threads of app share CPU 0 while CPU 1 stands idle";
        finding.cost = {5.87, 0.497, "measured"};
        finding.gain = {0.48, "the four spread evenly over the 2 allowed CPUs"};
        const model::SourceFrame frame = input.paths.user_frame(0, 4);
        finding.where = {{frame.file, frame.function, frame.module, frame.line, 0.97, ""},
                         {frame.file, frame.function, frame.module, frame.line + 8, 0.03, "app.c:50"}};
        finding.subject = {"cpu", "0", {{"host", std::string("node042")}}};
        finding.evidence = {{"run_delay_seconds", 35.1},
                            {"idle_fraction", 0.93},
                            {"runnable_tasks_count", int64_t{4}},
                            {"idle_cpus", std::vector<int64_t>{1}},
                            {"broken", std::numeric_limits<double>::quiet_NaN()},
                            {"threads", std::vector<std::string>{"worker (4243)", "worker (4244)",
                                                                 "worker (4245)", "worker (4246)"}}};
        finding.advice = {{"Spread the threads over the allowed CPUs.",
                           "One thread a CPU, cores before SMT siblings.", "launch",
                           "plumb run --pin=scatter -- ./app -n 4 'two words'"}};
        return {finding};
    }
};

class HeapBound : public Diagnosis {
  public:
    const char* id() const override { return "heap-bound"; }
    std::vector<Finding> diagnose(const DiagnosisInput&) const override {
        Finding small;
        small.id = id();
        small.gain = {0.017, "estimated without any allocation on the way", 0.012};
        small.confidence = 0.6;
        small.title = "2 % of the CPU time goes into allocating and freeing 64-byte blocks in one loop";
        small.cost = {0.2, 0.017, "estimated"};
        small.where = {{"/home/user/src/list.c", "push", "app", 31, 1, ""}};
        small.subject = {"allocation", "/home/user/src/list.c:31", {}};
        small.evidence = {
            {"allocations_per_second", 84745.0}, {"mean_request_bytes", 64.0}, {"temporary_fraction", 0.9}};
        small.advice = {{"Keep the nodes in a pool.", "", "code", ""}};
        Finding note;
        note.id = "heap-leak";
        note.title = "8.00 MB allocated here were not freed when the program ended";
        note.where = small.where;
        return {note, small};
    }
};

class Hostile : public Diagnosis {
  public:
    const char* id() const override { return "cpu-oversubscribed"; }
    std::vector<Finding> diagnose(const DiagnosisInput&) const override {
        Finding finding;
        finding.id = id();
        finding.fixed_severity = Severity::medium;
        finding.title = hostile;
        finding.cost = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
                        "bound"};
        finding.where = {{hostile, hostile, hostile, 1, 7.0, hostile}};
        finding.subject = {"variable", hostile, {{"note", hostile}}};
        finding.evidence = {{"name", hostile}, {"names", std::vector<std::string>{hostile}}};
        finding.advice = {{hostile, hostile, "code", hostile}};
        return {finding};
    }
};

class Failing : public Diagnosis {
  public:
    const char* id() const override { return "thread-migration"; }
    std::vector<Finding> diagnose(const DiagnosisInput&) const override {
        throw std::runtime_error("an assumption did not hold");
    }
};

template <typename T> std::unique_ptr<Diagnosis> make() {
    return std::make_unique<T>();
}

constexpr DiagnosisEntry heap_bound{"heap-bound", "CPU time in the allocator", make<HeapBound>};
const DiagnosisEntry troubled[] = {heap_bound,
                                   {"cpu-oversubscribed", "threads share CPUs", make<Oversubscribed>}};
const DiagnosisEntry unaligned_entries[] = {{"split-lock", "locked", make_split_lock},
                                            {"line-split-access", "crossing", make_line_split_access},
                                            {"unaligned-access", "unaligned", make_unaligned_access}};
const DiagnosisEntry memory_entries[] = {{"memory-hot-node", "hot", make_memory_hot_node},
                                         {"serial-first-touch", "serial", make_serial_first_touch}};
const DiagnosisEntry hostile_entries[] = {{"cpu-oversubscribed", "threads share CPUs", make<Hostile>},
                                          {"thread-migration", "threads wander", make<Failing>}};

} // namespace

model::Run make_run(const std::string& kind) {
    if (kind == "stacked")
        return make_stacked();
    if (kind == "clean")
        return make_clean();
    if (kind == "killed")
        return make_killed();
    if (kind == "hostile")
        return make_hostile();
    if (kind == "unaligned")
        return make_unaligned();
    if (kind == "wide")
        return make_wide();
    if (kind == "mpi")
        return make_mpi(16);
    if (kind == "mpi-wide")
        return make_mpi(8'192);
    if (kind == "memory")
        return make_memory(2, 3);
    if (kind == "memory-wide")
        return make_memory(8, 200);
    throw Error("no synthetic run is called " + kind);
}

std::span<const DiagnosisEntry> diagnoses_of(const std::string& kind) {
    if (kind == "unaligned")
        return unaligned_entries;
    if (kind == "hostile")
        return hostile_entries;
    if (kind == "memory")
        return memory_entries;
    return kind == "stacked" || kind == "wide" ? std::span<const DiagnosisEntry>(troubled)
                                               : std::span<const DiagnosisEntry>();
}

std::unique_ptr<model::SourceResolver> make_resolver(const std::string& kind,
                                                     const std::string& source_file) {
    return std::make_unique<LineResolver>(kind, source_file);
}

} // namespace plumb::synthetic
