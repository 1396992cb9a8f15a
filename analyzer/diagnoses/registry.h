// All diagnoses, in the order in which reports mention equals.
#pragma once

#include "diagnoses/diagnosis.h"

#include <memory>
#include <span>
#include <vector>

namespace plumb {

struct DiagnosisEntry {
    const char* id;
    const char* summary; // one line for `plumb report --help` and the documentation
    DiagnosisFactory make;
};

std::span<const DiagnosisEntry> diagnosis_registry();

// What this diagnosis finds, each finding with its severity. Throws what the diagnosis throws.
std::vector<Finding> findings_of(const DiagnosisEntry& entry, const DiagnosisInput& input);

// One for each diagnosis, defined in the file named after it.
std::unique_ptr<Diagnosis> make_bandwidth_saturated();
std::unique_ptr<Diagnosis> make_cpu_oversubscribed();
std::unique_ptr<Diagnosis> make_false_sharing();
std::unique_ptr<Diagnosis> make_heap_bound();
std::unique_ptr<Diagnosis> make_heap_contention();
std::unique_ptr<Diagnosis> make_heap_leak();
std::unique_ptr<Diagnosis> make_kernel_time();
std::unique_ptr<Diagnosis> make_library_time();
std::unique_ptr<Diagnosis> make_memory_hot_node();
std::unique_ptr<Diagnosis> make_memory_left_behind();
std::unique_ptr<Diagnosis> make_memory_remote();
std::unique_ptr<Diagnosis> make_mpi_collective_wait();
std::unique_ptr<Diagnosis> make_mpi_late_rank();
std::unique_ptr<Diagnosis> make_mpi_pending();
std::unique_ptr<Diagnosis> make_mpi_serialised();
std::unique_ptr<Diagnosis> make_mpi_small_messages();
std::unique_ptr<Diagnosis> make_line_split_access();
std::unique_ptr<Diagnosis> make_memory_spacing();
std::unique_ptr<Diagnosis> make_page_cache_spill();
std::unique_ptr<Diagnosis> make_placement_overlap();
std::unique_ptr<Diagnosis> make_page_size();
std::unique_ptr<Diagnosis> make_power_of_two_stride();
std::unique_ptr<Diagnosis> make_serial_first_touch();
std::unique_ptr<Diagnosis> make_split_lock();
std::unique_ptr<Diagnosis> make_thread_migration();
std::unique_ptr<Diagnosis> make_true_sharing();
std::unique_ptr<Diagnosis> make_unaligned_access();

} // namespace plumb
