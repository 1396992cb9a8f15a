#include "placement/launcher_ranks.h"

#include <plumb/launchers.h>

namespace plumb::placement {

std::optional<LocalRank> local_rank(const char* (*get)(const char* name)) {
    for (const launchers::Variables& variables : launchers::kVariables) {
        const int rank = launchers::number(get(variables.local_rank));
        if (rank < 0)
            continue;
        const int count = variables.local_size ? launchers::number(get(variables.local_size)) : -1;
        return LocalRank{rank, count, variables.launcher};
    }
    return std::nullopt;
}

} // namespace plumb::placement
