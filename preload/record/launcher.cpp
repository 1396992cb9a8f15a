#include "record/launcher.h"

#include "platform/text.h"

namespace plumb::shim {
namespace {

struct Launcher {
    const char* name;
    const char* rank;
    const char* rank_count;
    const char* local_rank;
};
constexpr Launcher kLaunchers[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"hydra", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
    {"pmix", "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"},
};

int32_t value_of(const char* const* environment, const char* name) {
    const size_t length = strlen(name);
    for (; environment && *environment; ++environment)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
            const uint64_t value = parse_number(*environment + length + 1, UINT64_MAX);
            return value <= INT32_MAX ? static_cast<int32_t>(value) : -1;
        }
    return -1;
}

} // namespace

LaunchFacts read_launch_facts(const char* const* environment) {
    for (const Launcher& launcher : kLaunchers) {
        const int32_t rank = value_of(environment, launcher.rank);
        if (rank >= 0)
            return {launcher.name, rank, value_of(environment, launcher.rank_count),
                    value_of(environment, launcher.local_rank)};
    }
    return {};
}

} // namespace plumb::shim
