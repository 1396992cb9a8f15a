// Binding of ranks, and up to which size messages are sent at once, by the environment of the MPI library.
#include "trial/cures/families.h"

namespace plumb::trial {

namespace {

constexpr const char* kEagerBytes = "65536";

// The name of the setting in each library; empty: it has none.
struct Variable {
    const char *open_mpi, *mpich;
    std::string of(Mpi mpi) const { return mpi == Mpi::open_mpi ? open_mpi : mpi == Mpi::mpich ? mpich : ""; }
};

Cure mpi_cure(const Facts& facts, const char* id, const char* what, const char* family, const Variable& variable,
              const std::string& value, std::vector<std::string> answers) {
    Cure cure{.id = id, .what = what, .family = family, .change = {}};
    const std::string name = variable.of(facts.mpi);
    if (facts.mpi == Mpi::none)
        cure.why_not = "the program does not use MPI";
    else if (name.empty())
        cure.why_not = "this MPI library has no such setting";
    else if (const auto set = facts.environment.find(name); set != facts.environment.end())
        cure.why_not = name + " is set already";
    cure.change.settings = {{name, value}};
    cure.answers = std::move(answers);
    return cure;
}

} // namespace

std::vector<Cure> mpi_cures(const Facts& facts) {
    const Variable binding{"OMPI_MCA_hwloc_base_binding_policy", "HYDRA_BINDING"};
    const Variable eager{"OMPI_MCA_btl_vader_eager_limit", "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"};
    std::vector<Cure> cures;
    cures.push_back(
        mpi_cure(facts, "mpi-bind", "bind each MPI rank to a core", "placement", binding, "core", {"ranks that share CPUs"}));
    if (cures.back().why_not.empty() && facts.ranks > facts.cores)
        cures.back().why_not = "there are more ranks than cores";
    cures.push_back(mpi_cure(facts, "mpi-unbound", "let the kernel place MPI ranks", "placement", binding, "none", {}));
    cures.push_back(
        mpi_cure(facts, "mpi-eager", "send messages up to 64 KiB at once", "mpi-eager", eager, kEagerBytes, {"eager"}));
    return cures;
}

} // namespace plumb::trial
