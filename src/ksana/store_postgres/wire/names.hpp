#pragma once

#include "ksana/libpq/connection.hpp"
#include "ksana/libpq/deadline.hpp"
#include "ksana/libpq/fault.hpp"
#include "ksana/libpq/params.hpp"
#include "ksana/libpq/rows.hpp"
#include "ksana/libpq/sql_text.hpp"

// The names of libpq/ that this module uses.

namespace ksana::store_postgres {

using libpq::AppendBinary;
using libpq::AppendElement;
using libpq::Backoff;
using libpq::CheckSchemaName;
using libpq::Connection;
using libpq::ConnectionOptions;
using libpq::Deadline;
using libpq::DeadlineFault;
using libpq::Fault;
using libpq::FaultKind;
using libpq::FaultOf;
using libpq::kBoolOid;
using libpq::kByteaOid;
using libpq::kConflictBackoff;
using libpq::kConnectBackoff;
using libpq::kInt2Oid;
using libpq::kInt4Oid;
using libpq::kInt8Oid;
using libpq::kTextOid;
using libpq::kTidOid;
using libpq::kUuidOid;
using libpq::kXidOid;
using libpq::LostFault;
using libpq::Micros;
using libpq::Params;
using libpq::RowPlace;
using libpq::RowReader;
using libpq::Rows;
using libpq::RowVersion;
using libpq::SetLength;
using libpq::Small;
using libpq::Statement;
using libpq::StatementsOf;
using libpq::WithSchema;

}  // namespace ksana::store_postgres
