#include "feed.h"
#include "target.h"

#include "placement/launcher_ranks.h"
#include "platform/cpu_list.h"

#include <map>
#include <plumb/launchers.h>

namespace plumb::fuzz {

namespace {

struct Given {
    std::map<std::string, std::string, std::less<>> variables;
    std::vector<std::pair<std::string, long>> ancestors; // name and parent of pid 2, 3, ...
};

// Every variable that the table names.
std::vector<const char*> known_names() {
    std::vector<const char*> names;
    const auto add = [&names](const char* name) {
        if (name)
            names.push_back(name);
    };
    for (const launchers::Launcher& launcher : launchers::kLaunchers) {
        add(launcher.rank), add(launcher.marker), add(launcher.step), add(launcher.node);
        for (const auto* list : {&launcher.counts, &launcher.local_ranks, &launcher.local_counts, &launcher.jobs})
            for (const char* name : *list)
                add(name);
    }
    return names;
}

const Given* given = nullptr; // of this run: the second reader takes a plain function

const char* variable(const char* name) {
    const auto found = given->variables.find(name);
    return found == given->variables.end() ? nullptr : found->second.c_str();
}

int process(const void*, long pid, char name[launchers::kNameRoom], long* parent) {
    if (pid < 2 || static_cast<size_t>(pid - 2) >= given->ancestors.size())
        return 0;
    const auto& [text, above] = given->ancestors[static_cast<size_t>(pid - 2)];
    std::memset(name, 0, launchers::kNameRoom);
    text.copy(name, launchers::kNameRoom - 1);
    *parent = above;
    return 1;
}

std::string environment(std::initializer_list<std::pair<const char*, const char*>> variables, const char* daemon) {
    static const std::vector<const char*> names = known_names();
    Food food;
    food.number(static_cast<uint8_t>(variables.size()));
    for (const auto& [name, value] : variables)
        for (size_t i = 0; i < names.size(); ++i)
            if (std::string_view(names[i]) == name) {
                food.number(static_cast<uint8_t>(i)).text(value);
                break;
            }
    food.number(uint8_t{1}).text(daemon).number(uint8_t{1});
    return food;
}

} // namespace

// A count, variables as their number in the table and their value; a count, ancestors as their name and parent.
void run_launchers(Bytes input) {
    static const std::vector<const char*> names = known_names();
    Feed feed(input);
    Given facts;
    for (unsigned left = feed.number<uint8_t>(); left > 0 && !feed.at_end(); --left) {
        const char* name = names[feed.number<uint8_t>() % names.size()];
        facts.variables[name] = std::string(feed.text()).c_str(); // an environment holds no NUL
    }
    for (unsigned left = feed.number<uint8_t>(); left > 0 && !feed.at_end(); --left) {
        const std::string name(feed.text());
        facts.ancestors.emplace_back(name, feed.number<uint8_t>());
    }
    given = &facts;
    const launchers::Surroundings around{nullptr, [](const void*, const char* name) { return variable(name); }, process, 2};
    const launchers::RankPlace place = launchers::find_rank(&around);
    require((place.launcher != nullptr) == (place.rank >= 0));
    require(place.count == -1 || place.count > place.rank);
    const auto ours = placement::launched_rank(variable, "/nonexistent");
    require(!ours || ours->rank >= 0);
    given = nullptr;
}

Seeds seeds_of_launchers() {
    return {
        {"openmpi", environment({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}, {"PMIX_NAMESPACE", "job.1"}}, "orted")},
        {"slurm", environment({{"SLURM_PROCID", "3"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "7"}, {"SLURM_LOCALID", "0"},
                               {"SLURM_STEP_TASKS_PER_NODE", "4(x2),3"}, {"SLURM_NODEID", "2"}, {"SLURM_JOB_ID", "9"}}, "slurmstepd")},
        {"hydra", environment({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"},
                               {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "64"}}, "hydra_pmi_proxy")},
    };
}

} // namespace plumb::fuzz
