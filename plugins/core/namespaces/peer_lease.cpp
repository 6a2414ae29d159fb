#include "namespaces/peer_lease.hpp"

#include <charconv>

#include "backplane/core/json_access.hpp"
#include "namespaces/server_readiness.hpp"

namespace backplane::core {
namespace {

constexpr std::chrono::milliseconds kBusyPause{10};
constexpr std::string_view kIdentityLabel = "apiserverIdentity";

}  // namespace

PeerLease::PeerLease(Host& host, ServerRecords records, kit::PeerAddress address)
    : host_(host), records_(std::move(records)), address_(std::move(address)), identity_(kit::server_id(kit::host_name())) {}

Object PeerLease::record() const {
  int number = 0;
  std::from_chars(address_.port.data(), address_.port.data() + address_.port.size(), number);
  Object port;
  port["name"] = "https";
  port["port"] = number;
  port["protocol"] = "TCP";
  Object at;
  at["ip"] = address_.ip;
  Object subset;
  subset["addresses"] = Array{std::move(at)};
  subset["ports"] = Array{std::move(port)};
  Object out = server_record(Array{std::move(subset)});
  out["metadata"].get_object()["labels"].emplace_object()[kIdentityLabel] = identity_;
  return out;
}

Task<Status> PeerLease::start(PostStartHookContext context) {
  if (is_loopback(address_.ip)) {
    host_.logger().debug("no peer endpoint lease: the advertised address is a loopback address address=" + address_.ip);
    co_return Status();
  }
  client_.emplace(host_.client());
  host_.spawn("peer-endpoint-reconciler", run(context.stop));
  co_return Status();
}

Task<void> PeerLease::run(Signal& stop) {
  Sleeper sleeper(stop);
  auto waiting = wait_until_ready(*client_, stop, stopped_);
  co_await std::move(waiting);
  bool running = !stop.fired();
  while (running && !stopped_) {
    busy_ = true;
    auto renewing = records_.renew(identity_, record());
    Status renewed = co_await std::move(renewing);
    busy_ = false;
    if (!renewed.ok() && !stop.fired()) host_.logger().error("unable to update peer endpoint leases: " + renewed.message());
    running = co_await sleeper.sleep(ServerRecords::kRenewal);
  }
}

Task<Status> PeerLease::stop() {
  stopped_ = true;
  if (!client_) co_return Status();
  // A write in progress must not end after this removal.
  while (busy_) co_await sleep_for(kBusyPause);
  auto removing = records_.remove(identity_);
  Status removed = co_await std::move(removing);
  if (!removed.ok()) host_.logger().error("unable to remove peer endpoint leases: " + removed.message());
  co_return Status();
}

}  // namespace backplane::core
