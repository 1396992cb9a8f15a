// Runs made up for the tests of diagnoses: what happened is stated in seconds, so that the cost a diagnosis must
// find can be worked out by hand.
#pragma once

#include "analyses/analyses.h"
#include "diagnoses/diagnosis.h"
#include "diagnoses/registry.h"
#include "unaligned_site.h"

#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace plumb::testing {

// Answers from a table: address -> frames. Unknown addresses resolve to an empty frame of the module.
class TableResolver : public model::SourceResolver {
  public:
    std::map<uint64_t, std::vector<model::SourceFrame>> frames;
    std::vector<model::SourceFrame> resolve(const model::Module& module, uint64_t address) override {
        for (uint64_t at : {address, address + 1}) // return addresses come minus one
            if (auto found = frames.find(at); found != frames.end())
                return found->second;
        return {{"", "", 0, module.path, false}};
    }

    std::map<uint64_t, std::string> called; // by return address
    std::string called_function(const model::Module&, uint64_t after_call) override {
        const auto found = called.find(after_call);
        return found == called.end() ? std::string() : found->second;
    }

    // What lies at an address of data; empty: nothing has a name.
    std::function<std::optional<model::DataName>(uint64_t address)> data, local, pointed;
    std::optional<model::DataName> name_static(const model::Module&, uint64_t address, uint32_t, uint64_t) override {
        return data ? data(address) : std::nullopt;
    }
    std::optional<model::DataName> name_local(const model::Module&, const model::DataAccess& access) override {
        return local ? local(access.address) : std::nullopt;
    }
    std::optional<model::DataName> name_by_type(const model::Module&, const model::DataAccess& access) override {
        return pointed ? pointed(access.address) : std::nullopt;
    }
};

// What one diagnosis finds. Throws where there is none of that name.
inline std::vector<Finding> findings_of(const char* id, const model::Run& run, TableResolver& resolver) {
    model::CallPaths paths(run, resolver);
    for (const DiagnosisEntry& entry : diagnosis_registry())
        if (std::strcmp(entry.id, id) == 0)
            return plumb::findings_of(entry, {run, paths, analyses_of(paths)});
    throw std::runtime_error(std::string("no diagnosis ") + id);
}

class SyntheticRun {
  public:
    SyntheticRun(double seconds, int cpus) : seconds_(seconds) {
        run.command = {"./app", "big file"};
        run.begin_ns = kBegin;
        run.end_ns = kBegin + ns(seconds);
        model::Host host;
        host.name = "node";
        host.cpu_count = cpus;
        for (int cpu = 0; cpu < cpus; cpu++)
            host.allowed_cpus.push_back(cpu);
        run.hosts.push_back(host);
        add_process("app");
    }

    static uint64_t ns(double seconds) { return static_cast<uint64_t>(seconds * 1e9); }

    model::Process& add_process(const std::string& name) {
        model::Process process;
        process.pid = 100 * static_cast<uint32_t>(run.processes.size() + 1);
        process.name = name;
        process.host = "node";
        process.start_ns = run.begin_ns;
        process.end_ns = run.end_ns;
        process.paths.emplace_back(); // the root
        model::Module module;
        module.kind = model::Module::Kind::program;
        module.path = "/home/user/app";
        module.start = 0x400000;
        module.end = 0x500000;
        process.modules.push_back(module);
        run.processes.push_back(process);
        return run.processes.back();
    }

    // A thread of the last process that, from `from` to `to` (seconds since the launch), had `run_share` of a CPU
    // and waited for it `delay_share` of the time.
    model::Thread& add_thread(int cpu, double run_share, double delay_share, double from = 0, double to = -1) {
        to = to < 0 ? seconds_ : to;
        model::Process& process = run.processes.back();
        model::Thread thread;
        thread.tid = process.pid + static_cast<uint32_t>(process.threads.size());
        thread.name = "worker";
        thread.start_ns = kBegin + ns(from);
        thread.end_ns = kBegin + ns(to);
        thread.allowed_cpus = run.hosts[0].allowed_cpus;
        for (double at = from; at < to - 1e-9; at += kInterval_s) {
            const double length = std::min(kInterval_s, to - at);
            model::ThreadInterval interval;
            interval.begin_ns = kBegin + ns(at);
            interval.end_ns = kBegin + ns(at + length);
            interval.cpu = cpu;
            interval.run_ns = ns(run_share * length);
            interval.run_delay_ns = ns(delay_share * length);
            thread.intervals.push_back(interval);
            add_busy(cpu, at, run_share * length);
        }
        thread.run_ns = ns(run_share * (to - from));
        thread.run_delay_ns = ns(delay_share * (to - from));
        thread.user_ns = thread.run_ns;
        process.threads.push_back(thread);
        return process.threads.back();
    }

    // A program outside the run.
    void add_other(const std::string& name, int cpu, double share) {
        for (double at = 0; at < seconds_ - 1e-9; at += kInterval_s)
            add_busy(cpu, at, share * kInterval_s);
        model::OtherProcess other;
        other.name = name;
        other.last_cpu = cpu;
        other.cpu_ns = ns(share * seconds_);
        run.hosts[0].others.push_back(other);
    }

    // Adds a call path, outermost first, and returns its innermost node. Every node but the last is a return
    // address.
    uint32_t add_path(const std::vector<uint64_t>& addresses, bool leaf = true, bool kernel_leaf = false) {
        model::Process& process = run.processes.back();
        uint32_t parent = 0;
        for (size_t i = 0; i < addresses.size(); i++) {
            model::PathNode node;
            node.parent = parent;
            node.address = addresses[i];
            node.leaf = leaf && i + 1 == addresses.size();
            node.kernel = kernel_leaf && i + 1 == addresses.size();
            process.paths.push_back(node);
            parent = static_cast<uint32_t>(process.paths.size() - 1);
        }
        return parent;
    }

    void add_samples(uint32_t thread, uint32_t path, uint64_t samples, uint64_t kernel_samples = 0) {
        run.processes.back().samples.push_back({thread, path, samples, samples * 1'000'000, kernel_samples});
    }

    // An instruction of the last process that the alignment trap caught: `hits` accesses, the n-th of them `stride`
    // bytes behind the one before.
    model::UnalignedSite& add_unaligned(uint64_t instruction, const model::AccessKind& kind, uint64_t first_address,
                                        uint64_t hits, uint64_t stride, bool exact = true) {
        model::Alignment& alignment = run.processes.back().alignment;
        alignment.mode = exact ? model::Alignment::Mode::exact : model::Alignment::Mode::find;
        model::UnalignedSite site = unaligned_site(instruction, kind, first_address, hits, stride);
        site.exact = exact;
        alignment.hits += hits;
        alignment.sites.push_back(site);
        return alignment.sites.back();
    }

    // Round figures, like those of a machine whose hypervisor traps split locks.
    void set_penalties() {
        model::AccessPenalties& penalties = run.hosts[0].access_penalties.emplace();
        penalties.load = {1, 1.02, 2, 11};
        penalties.store = {1, 1.02, 3, 21};
        penalties.locked_ns = 10;
        penalties.split_lock_ns = 100'010;
        penalties.split_lock_setting = "split_lock_mitigate = 1";
    }

    // A function of the module that holds `address`.
    void name(uint64_t address, const std::string& function, const std::string& module, const std::string& file = "",
              uint32_t line = 0) {
        resolver.frames[address] = {{function, file, line, module, false}};
    }

    model::Module& add_module(const std::string& path, uint64_t start, uint64_t end,
                              model::Module::Kind kind = model::Module::Kind::library) {
        model::Module module;
        module.kind = kind;
        module.path = path;
        module.start = start;
        module.end = end;
        run.processes.back().modules.push_back(module);
        return run.processes.back().modules.back();
    }

    // Call once, after all threads: writes the CPUs' own intervals.
    void finish() {
        for (double at = 0; at < seconds_ - 1e-9; at += kInterval_s)
            for (int cpu : run.hosts[0].allowed_cpus) {
                const double length = std::min(kInterval_s, seconds_ - at);
                model::CpuInterval interval;
                interval.cpu = cpu;
                interval.allowed = true;
                interval.begin_ns = kBegin + ns(at);
                interval.end_ns = kBegin + ns(at + length);
                interval.user_ns = ns(std::min(length, used_[{cpu, key(at)}]));
                interval.idle_ns = interval.end_ns - interval.begin_ns - interval.user_ns;
                run.hosts[0].cpu_intervals.push_back(interval);
            }
    }

    std::vector<Finding> diagnose(const char* id) { return findings_of(id, run, resolver); }

    model::Run run;
    TableResolver resolver;
    static constexpr double kInterval_s = 0.25;

  private:
    static constexpr uint64_t kBegin = 1'000'000'000'000;
    static long key(double at) { return static_cast<long>(at / kInterval_s + 0.5); }
    void add_busy(int cpu, double at, double seconds) { used_[{cpu, key(at)}] += seconds; }

    double seconds_;
    std::map<std::pair<int, long>, double> used_;
};

} // namespace plumb::testing
