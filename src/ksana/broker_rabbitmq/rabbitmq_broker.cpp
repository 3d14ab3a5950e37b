#include "ksana/broker_rabbitmq/rabbitmq_broker.hpp"

#include "ksana/broker_rabbitmq/rabbitmq_link.hpp"

namespace ksana::broker_rabbitmq {
namespace {

class RabbitmqBroker final : public broker::Broker {
  public:
    RabbitmqBroker(RabbitmqOptions options, std::shared_ptr<const TlsContext> tls)
        : options_(std::move(options)), name_(options_.url.name()), tls_(std::move(tls)) {}

    Result<std::unique_ptr<broker::Link>> Open(std::string_view purpose) override {
        const Clock& clock = options_.clock;
        KSANA_TRY(auto connection, Connection::Open(options_.url, tls_.get(), clock, purpose,
                                                    clock.SteadyNow() + options_.timeout));
        KSANA_TRY(auto wake, WakeFile::Make());
        return std::unique_ptr<broker::Link>(std::make_unique<RabbitmqLink>(
            std::move(connection), std::move(wake), clock, options_.timeout));
    }

    const std::string& name() const override { return name_; }

  private:
    const RabbitmqOptions options_;
    const std::string name_;
    const std::shared_ptr<const TlsContext> tls_;  // null: no TLS
};

}  // namespace

Result<std::unique_ptr<broker::Broker>> OpenRabbitmq(RabbitmqOptions options) {
    KSANA_TRY_VOID(LoadLibrabbitmq());
    std::shared_ptr<const TlsContext> tls;
    if (options.url.tls) {
        KSANA_TRY(tls, TlsContext::Make(options.url));
    }
    return std::unique_ptr<broker::Broker>(
        std::make_unique<RabbitmqBroker>(std::move(options), std::move(tls)));
}

}  // namespace ksana::broker_rabbitmq
