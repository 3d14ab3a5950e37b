#pragma once

// Private to this module: only this header and io_loop.hpp include Asio.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "ksana/http_server/wire/transport.hpp"

namespace ksana::http_server {

// A concrete executor type avoids the cost of Asio's type-erased executor.
using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

std::unique_ptr<Transport> MakePlainTransport(Socket socket, std::string peer);
// `tls` must outlive the transport.
std::unique_ptr<Transport> MakeTlsTransport(Socket socket, boost::asio::ssl::context& tls,
                                            std::string peer);

}  // namespace ksana::http_server
