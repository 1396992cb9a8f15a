// Several hosts of a run may be one machine: containers with names of their own on one node, network namespaces. They share its CPUs.
#pragma once

#include "model/run.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::model {

// Two names of one machine, and the run may use the same CPUs under both. False for one host and itself, and where it is not known.
bool share_cpus(const Host& one, const Host& other);

// The machine's CPUs are counted with an earlier host of the run.
bool is_counted_before(const Run& run, const Host& host);

// Whether this process ran on the CPUs of the host: on it, or on another name of its machine.
bool runs_there(const Run& run, const Process& process, const Host& host);

struct Recorder { // a plumb that recorded a part of the run
    size_t host = 0; // index into Run::hosts
    uint32_t pid = 0;
};

// Takes processes of the run and its recorders out of what each host saw as other programs: those that ran under another name of its
// machine. A process is known by its number and its name.
void forget_own_among_others(Run& run, const std::vector<Recorder>& recorders);

} // namespace plumb::model
