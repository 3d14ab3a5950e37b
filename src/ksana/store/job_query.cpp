#include "ksana/store/job_query.hpp"

#include "ksana/model/job/job_run.hpp"

namespace ksana::store {

std::string RunTypeOf(const model::Job& job) { return model::RunTypeOf(job); }

}  // namespace ksana::store
