// The numbers behind the charts of an MPI job (page/src/data.ts has their types), brought to a size that a page can show:
// bins of ranks and of time, the ranks that stand out kept alone.
#pragma once

#include "reports/json/document.h"

namespace plumb {

// The job that the page draws: the one with most ranks, the first of equal ones. Null: there is none.
const MpiSummary* charted_mpi_job(const Report& report);

// Places in bins of ranks, so that a page can show them; null where there are none.
Json mpi_matrix_data(const model::MpiMatrix& matrix, int size);

Json mpi_chart_data(const MpiSummary& summary);

} // namespace plumb
