#include "ksana/lock_mariadb/mariadb_connection.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "ksana/lock_mariadb/libmariadb.hpp"

namespace ksana::lock_mariadb {
namespace {

struct Meaning {
    unsigned number;
    Code code;
};

constexpr Meaning kMeanings[] = {
    {1040, Code::kExhausted},                                  // too many connections
    {1044, Code::kPermissionDenied},                           // on a database
    {1045, Code::kUnauthenticated},  {1049, Code::kNotFound},  // no such database
    {1053, Code::kLeaseLost},                                  // the server is stopping
    {1095, Code::kPermissionDenied},                           // KILL
    {1142, Code::kPermissionDenied}, {1143, Code::kPermissionDenied},
    {1146, Code::kLeaseLost},  // no such table: a new session creates it
    {1203, Code::kExhausted},        {1205, Code::kUnavailable},  // waited too long for a row
    {1213, Code::kUnavailable},                                   // deadlock
    {1226, Code::kExhausted},        {1227, Code::kPermissionDenied},
    {1290, Code::kUnavailable},      // read-only: the primary has moved
    {1300, Code::kInvalidArgument},  // not UTF-8
    {1317, Code::kLeaseLost},        // killed
    {1698, Code::kUnauthenticated},  {1836, Code::kUnavailable},
    {1927, Code::kLeaseLost},                                     // killed
    {1969, Code::kUnavailable},                                   // max_statement_time
    {2002, Code::kUnavailable},                                   // no connection
    {2003, Code::kUnavailable},      {2005, Code::kUnavailable},  // unknown host
    {2006, Code::kLeaseLost},                                     // the server has gone away
    {2013, Code::kLeaseLost},                                     // lost during a query
    {2026, Code::kUnauthenticated},                               // TLS: the certificate
    {2059, Code::kUnauthenticated},  // a method that libmariadb does not have
    {4031, Code::kLeaseLost},        // ended for silence (MySQL)
};

constexpr const char* kSystemCertificates = "/etc/ssl/certs/ca-certificates.crt";

unsigned SecondsOf(Duration time) {
    return static_cast<unsigned>(
        std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(time).count(), 1));
}

struct FreeResult {
    void operator()(MYSQL_RES* result) const { Libmariadb().mysql_free_result(result); }
};

void SetOptions(MYSQL* handle, const MariadbLockOptions& options) {
    const auto& api = Libmariadb();
    const my_bool no = 0;
    const my_bool yes = 1;
    const unsigned none = 0;
    const unsigned seconds = SecondsOf(options.timeout);
    // A session that is replaced unseen would have lost its lock.
    api.mysql_options(handle, MYSQL_OPT_RECONNECT, &no);
    // Otherwise the server could ask for files of this machine.
    api.mysql_options(handle, MYSQL_OPT_LOCAL_INFILE, &none);
    api.mysql_options(handle, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    api.mysql_options(handle, MYSQL_OPT_READ_TIMEOUT, &seconds);
    api.mysql_options(handle, MYSQL_OPT_WRITE_TIMEOUT, &seconds);
    api.mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (!options.host.starts_with('/')) {
        const unsigned tcp = MYSQL_PROTOCOL_TCP;  // also for "localhost"
        api.mysql_options(handle, MYSQL_OPT_PROTOCOL, &tcp);
    }
    if (options.tls) {
        const char* const file =
            options.ca_file.empty() ? kSystemCertificates : options.ca_file.c_str();
        api.mysql_options(handle, MYSQL_OPT_SSL_CA, file);
        api.mysql_options(handle, MYSQL_OPT_SSL_ENFORCE, &yes);
        api.mysql_options(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    } else {
        // Without encryption a false server must not get the password as it is.
        api.mysql_options(handle, MARIADB_OPT_RESTRICTED_AUTH,
                          "mysql_native_password,client_ed25519,caching_sha2_password");
    }
}

}  // namespace

std::string Literal(std::string_view bytes) {
    if (bytes.empty()) return "''";
    std::string text = "x'";
    for (const char c : bytes) {
        fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(c));
    }
    return text + "'";
}

std::string Literal(std::optional<std::int64_t> number) {
    return number ? std::to_string(*number) : "NULL";
}

std::optional<std::int64_t> Number(const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (fault != std::errc() || end != text->data() + text->size()) return std::nullopt;
    return number;
}

Code CodeOfError(unsigned number) {
    const auto* const found =
        std::ranges::find(std::begin(kMeanings), std::end(kMeanings), number, &Meaning::number);
    return found == std::end(kMeanings) ? Code::kInternal : found->code;
}

void MariadbConnection::Close::operator()(st_mysql* handle) const {
    Libmariadb().mysql_close(handle);
}

MariadbConnection::MariadbConnection(Private /*unused*/, Handle handle,
                                     const MariadbLockOptions& options)
    : handle_(std::move(handle)), clock_(options.clock) {}

Error MariadbConnection::Failure() const {
    const unsigned number = Libmariadb().mysql_errno(handle_.get());
    return Error(CodeOfError(number),
                 fmt::format("MariaDB: {} ({})", Libmariadb().mysql_error(handle_.get()), number));
}

Result<std::unique_ptr<MariadbConnection>> MariadbConnection::Open(
    const MariadbLockOptions& options) {
    KSANA_TRY_VOID(LoadLibmariadb());
    Handle handle(Libmariadb().mysql_init(nullptr));
    if (!handle) return Error(Code::kExhausted, "MariaDB: out of memory");
    SetOptions(handle.get(), options);
    const bool socket = options.host.starts_with('/');
    const MYSQL* const connected = Libmariadb().mysql_real_connect(
        handle.get(), socket ? nullptr : options.host.c_str(), options.user.c_str(),
        options.password.c_str(), options.database.c_str(), options.port,
        socket ? options.host.c_str() : nullptr, 0);
    auto connection = std::make_unique<MariadbConnection>(Private{}, std::move(handle), options);
    if (connected != nullptr) return connection;
    Error error = connection->Failure();
    if (error.code == Code::kLeaseLost) error.code = Code::kUnavailable;
    return error;
}

std::uint64_t MariadbConnection::Id() const { return Libmariadb().mysql_thread_id(handle_.get()); }

unsigned MariadbConnection::LastError() const { return Libmariadb().mysql_errno(handle_.get()); }

Result<void> MariadbConnection::AwaitAnswer(SteadyPoint until) {
    pollfd entry{.fd = static_cast<int>(Libmariadb().mysql_get_socket(handle_.get())),
                 .events = POLLIN,
                 .revents = 0};
    while (true) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - clock_.SteadyNow()).count();
        const int ready = ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
        if (ready > 0) return {};
        if (ready == 0) {
            return Error(Code::kUnavailable, "MariaDB: the server did not answer in time");
        }
        if (errno != EINTR) return Error(Code::kUnavailable, "MariaDB: poll() failed");
    }
}

Result<TextRows> MariadbConnection::Query(const std::string& sql, SteadyPoint until) {
    const auto& api = Libmariadb();
    if (api.mysql_send_query(handle_.get(), sql.data(), sql.size()) != 0) return Failure();
    KSANA_TRY_VOID(AwaitAnswer(until));
    if (api.mysql_read_query_result(handle_.get()) != 0) return Failure();
    const std::unique_ptr<MYSQL_RES, FreeResult> result(api.mysql_store_result(handle_.get()));
    TextRows rows;
    if (!result) {
        if (api.mysql_errno(handle_.get()) != 0) return Failure();
        return rows;
    }
    const unsigned columns = api.mysql_num_fields(result.get());
    while (MYSQL_ROW row = api.mysql_fetch_row(result.get())) {
        const unsigned long* const lengths = api.mysql_fetch_lengths(result.get());
        TextRow& texts = rows.emplace_back();
        for (unsigned i = 0; i < columns; ++i) {
            if (row[i] == nullptr) {
                texts.emplace_back();
            } else {
                texts.emplace_back(std::string(row[i], lengths[i]));
            }
        }
    }
    return rows;
}

}  // namespace ksana::lock_mariadb
