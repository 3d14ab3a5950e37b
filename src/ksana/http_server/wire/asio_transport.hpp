#pragma once

// Private to this module: the only headers that know Asio are this one and io_loop.hpp.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "ksana/http_server/wire/transport.hpp"

namespace ksana::http_server {

// With the executor's type known, no call goes through a type-erased one.
using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

std::unique_ptr<Transport> MakePlainTransport(Socket socket, std::string peer);
// `tls` must outlive it.
std::unique_ptr<Transport> MakeTlsTransport(Socket socket, boost::asio::ssl::context& tls,
                                            std::string peer);

}  // namespace ksana::http_server
