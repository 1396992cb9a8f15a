// How parallel launchers number the processes that they start: the one table of them, for the shim in the ranks, for
// `plumb` where a launcher starts it, and for the public library. Common to C and C++; no allocation, no lock, no call
// but those that the reader of the variables makes: signal-safe if that is.
//
// A process may carry the variables of several launchers: mpiexec inside a batch job, srun below mpirun. It is a rank of
// the launcher that started it. Of those that number it, the one counts whose daemon is the nearest ancestor; where
// ancestors cannot be seen (containers, hidepid), the first one of the table: it is ordered from the inside out.
#pragma once

#ifdef __cplusplus
namespace plumb::launchers {
#endif

enum { kMostNames = 9, kMostAncestors = 64, kNameRoom = 16 /* of a process's name (comm) */ };

typedef struct {
    const char *name;
    const char *rank;   // without a number in it: not started by this launcher
    const char *marker; // if named: must hold a number, too, or the variables do not number a rank
    const char *counts[2], *local_ranks[2], *local_counts[2]; // the first that can be true counts
    const char *jobs[2], *step;            // names of the job, the first that is set; `step` is put behind, with a dot
    const char *node;                      // number of the node in local_counts, where those list all nodes
    const char *daemons[kMostNames];       // what starts its ranks on a node
} Launcher;

// Each as its own sources or manual name them. Slurm sets SLURM_PROCID and SLURM_NTASKS also in a job script, which is
// no rank: only a step has a small number (batch and interactive steps have one close to 2^32, or none). PMI_RANK alone
// is set by Hydra, PALS, Flux and Slurm alike. PBS, LSF and Grid Engine number no ranks themselves.
static const Launcher kLaunchers[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", 0, {"OMPI_COMM_WORLD_SIZE"}, {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"}, {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}, 0, 0,
     {"orted", "prted", "prterun", "prte", "orterun", "mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi"}},
    {"mvapich", "MV2_COMM_WORLD_RANK", 0, {"MV2_COMM_WORLD_SIZE"}, {"MV2_COMM_WORLD_LOCAL_RANK"},
     {"MV2_COMM_WORLD_LOCAL_SIZE"}, {0}, 0, 0, {"mpispawn", "mpirun_rsh"}},
    {"hydra", "PMI_RANK", "MPI_LOCALRANKID", {"PMI_SIZE"}, {"MPI_LOCALRANKID"}, {"MPI_LOCALNRANKS"}, {0}, 0, 0,
     {"hydra_pmi_proxy", "hydra_bstrap_pr"}}, // MPICH, Intel MPI
    {"jsrun", "JSM_NAMESPACE_RANK", 0, {"JSM_NAMESPACE_SIZE"}, {"JSM_NAMESPACE_LOCAL_RANK"},
     {"JSM_NAMESPACE_LOCAL_SIZE"}, {"PMIX_NAMESPACE"}, 0, 0, {"jsmd"}},
    {"pals", "PALS_RANKID", 0, {"PMI_SIZE"}, {"PALS_LOCAL_RANKID", "PMI_LOCAL_RANK"},
     {"PALS_LOCAL_SIZE", "PMI_LOCAL_SIZE"}, {"PALS_APID"}, 0, 0, {"palsd"}},
    {"flux", "FLUX_TASK_RANK", 0, {"FLUX_JOB_SIZE"}, {"FLUX_TASK_LOCAL_ID"}, {0}, {"FLUX_JOB_ID"}, 0, 0, {"flux-shell"}},
    {"slurm", "SLURM_PROCID", "SLURM_STEP_ID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, {"SLURM_LOCALID"},
     {"SLURM_STEP_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE"}, {"SLURM_JOB_ID", "SLURM_JOBID"}, "SLURM_STEP_ID", "SLURM_NODEID",
     {"slurmstepd"}},
    {"pmix", "PMIX_RANK", 0, {"PMIX_SIZE"}, {"PMIX_LOCAL_RANK"}, {0}, {"PMIX_NAMESPACE"}, 0, 0, {0}},
    {"pmi", "PMI_RANK", 0, {"PMI_SIZE"}, {"PMI_LOCAL_RANK"}, {"PMI_LOCAL_SIZE"}, {"PMI_JOBID"}, 0, 0, {0}},
};
enum { kLauncherCount = sizeof kLaunchers / sizeof *kLaunchers };

// Where the facts are read from. `process` gives the name and the parent of a process, 0 if it cannot; null: the
// ancestors are not looked at.
typedef struct {
    const void *context;
    const char *(*variable)(const void *context, const char *name); // null: not set
    int (*process)(const void *context, long pid, char name[kNameRoom], long *parent);
    long parent; // of the process that asks
} Surroundings;

typedef struct {
    const Launcher *launcher;                // null: no rank
    int rank, count, local_rank, local_count; // -1: not known
} RankPlace;

// The number at the start of `text` (OMP_NUM_THREADS may be "4,2"); -1: null or no number.
static inline int number(const char *text) {
    if (!text || *text < '0' || *text > '9')
        return -1;
    long value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        value = value * 10 + (*text - '0');
        if (value > 1 << 24)
            return -1;
    }
    return (int)value;
}

// The same for numbers of which every node has its own: "4(x2),3" is 4, 4 and 3.
static inline int number_of_node(const char *text, int node) {
    while (text) {
        const int value = number(text);
        const char *p = text;
        while (*p && *p != ',' && *p != '(')
            ++p;
        int nodes = 1;
        if (p[0] == '(' && p[1] == 'x' && number(p + 2) > 0)
            nodes = number(p + 2);
        if (value < 0 || node < nodes)
            return value;
        node -= nodes;
        while (*p && *p != ',')
            ++p;
        text = *p ? p + 1 : 0;
    }
    return -1;
}

static inline int same_text(const char *a, const char *b) {
    while (*a && *a == *b)
        ++a, ++b;
    return *a == *b;
}

// `launcher` null: of any launcher.
static inline int is_daemon(const Launcher *launcher, const char *name) {
    for (int l = 0; l < kLauncherCount; ++l)
        for (int i = 0; i < kMostNames && kLaunchers[l].daemons[i]; ++i)
            if ((!launcher || launcher == &kLaunchers[l]) && same_text(kLaunchers[l].daemons[i], name))
                return 1;
    return 0;
}

static inline int numbers_us(const Launcher *launcher, const Surroundings *around) {
    return number(around->variable(around->context, launcher->rank)) >= 0 &&
           (!launcher->marker || number(around->variable(around->context, launcher->marker)) >= 0);
}

// The first of the variables whose number is above `least`.
static inline int first_above(const char *const names[2], int least, int node, const Surroundings *around) {
    for (int i = 0; i < 2 && names[i]; ++i) {
        const int value = number_of_node(around->variable(around->context, names[i]), node);
        if (value > least)
            return value;
    }
    return -1;
}

static inline RankPlace find_rank(const Surroundings *around) {
    RankPlace place = {0, -1, -1, -1, -1};
    int claims = 0;
    for (int l = kLauncherCount - 1; l >= 0; --l)
        if (numbers_us(&kLaunchers[l], around))
            ++claims, place.launcher = &kLaunchers[l];
    if (claims > 1 && around->process) {
        char name[kNameRoom];
        long pid = around->parent;
        for (int i = 0; i < kMostAncestors && pid > 1 && around->process(around->context, pid, name, &pid); ++i) {
            const Launcher *nearest = 0;
            for (int l = 0; l < kLauncherCount && !nearest; ++l)
                if (is_daemon(&kLaunchers[l], name) && numbers_us(&kLaunchers[l], around))
                    nearest = &kLaunchers[l];
            if (nearest) {
                place.launcher = nearest;
                break;
            }
        }
    }
    if (place.launcher) {
        place.rank = number(around->variable(around->context, place.launcher->rank));
        place.count = first_above(place.launcher->counts, place.rank, 0, around);
        place.local_rank = first_above(place.launcher->local_ranks, -1, 0, around);
        const int node = place.launcher->node ? number(around->variable(around->context, place.launcher->node)) : 0;
        place.local_count = first_above(place.launcher->local_counts, place.local_rank, node < 0 ? 0 : node, around);
    }
    return place;
}

// The variable that names the job of a rank; null: its launcher names none.
static inline const char *job_name(const Launcher *launcher, const Surroundings *around) {
    for (int i = 0; i < 2 && launcher->jobs[i]; ++i) {
        const char *text = around->variable(around->context, launcher->jobs[i]);
        if (text && *text)
            return text;
    }
    return 0;
}

#ifdef __cplusplus
} // namespace plumb::launchers
#endif
