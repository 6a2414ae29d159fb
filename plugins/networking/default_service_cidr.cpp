#include "default_service_cidr.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/points/unreadable_object.hpp"
#include "backplane/types/ip_addresses.hpp"

namespace backplane::networking {
namespace {

using namespace kit;

// Upstream's intervals: defaultservicecidr.NewController and its Start.
constexpr std::chrono::seconds kInterval{10};
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr const char* kName = "kubernetes";
constexpr const char* kController = "kubernetes-service-cidr-controller";

GroupVersionResource service_cidrs() { return {"networking.k8s.io", "v1", "servicecidrs"}; }

// "[10.0.0.0/16 fd00::/112]"
std::string listed(const std::vector<std::string>& ranges) { return "[" + joined(ranges, " ") + "]"; }

std::vector<std::string> ranges_of(const Object& object) { return texts_of(object_or_empty(object, "spec"), "cidrs"); }

const Object* ready_condition(const Object& object) { return find_item(object_or_empty(object, "status"), "conditions", "type", "Ready"); }

// The network of a range, with the host bits cleared.
std::string network(std::string_view range) {
  const auto slash = range.find('/');
  auto address = parse_ip(range.substr(0, slash));
  if (!address || slash == std::string_view::npos) return std::string(range);
  const int bits = std::atoi(std::string(range.substr(slash + 1)).c_str()) + (address->six ? 0 : 96);
  for (int bit = bits; bit < 128; ++bit) {
    address->bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(0x80u >> (bit % 8)));
  }
  return print_ip(*address) + std::string(range.substr(slash));
}

}  // namespace

std::vector<std::string> canonical_ranges(std::string_view flag) {
  std::vector<std::string> out;
  for (std::string_view rest = flag.empty() ? "10.0.0.0/24" : flag; !rest.empty();) {
    const auto comma = rest.find(',');
    out.push_back(network(rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

CidrStep next_step(const Object& object, const std::vector<std::string>& ranges) {
  const auto have = ranges_of(object);
  if (ranges.size() == 2 && have.size() == 1 && have[0] == ranges[0]) return CidrStep::kJoinFamily;
  // A ServiceCIDR that is being deleted is not changed.
  if (!meta_text(object, "deletionTimestamp").empty()) return CidrStep::kNothing;
  if (have != ranges) return CidrStep::kMismatch;
  const Object* ready = ready_condition(object);
  const std::string_view status = ready != nullptr ? get_string(*ready, "status") : std::string_view();
  if (status == "True") return CidrStep::kNothing;
  return status == "False" ? CidrStep::kNotReadyByClient : CidrStep::kSetReady;
}

Task<void> DefaultServiceCidr::warn(Object object, std::string reason, std::string note) {
  host_.logger().warn("default ServiceCIDR: " + note);
  const GroupVersionResource events{"", "v1", "events"};
  Object event;
  event["kind"] = "Event";
  event["apiVersion"] = "v1";
  Object& metadata = event["metadata"].emplace_object();
  metadata["generateName"] = std::string(kName) + ".";
  metadata["namespace"] = "default";
  Object& about = event["involvedObject"].emplace_object();
  about["kind"] = "ServiceCIDR";
  about["apiVersion"] = "networking.k8s.io/v1";
  about["name"] = kName;
  about["uid"] = meta_text(object, "uid");
  about["resourceVersion"] = meta_text(object, "resourceVersion");
  event["reason"] = std::move(reason);
  event["message"] = std::move(note);
  event["source"].emplace_object()["component"] = kController;
  event["firstTimestamp"] = event["lastTimestamp"] = now_rfc3339();
  event["count"] = 1;
  event["type"] = "Warning";
  event["reportingComponent"] = kController;
  auto made = co_await client_->create(events, "default", std::move(event));
  if (!made.ok()) host_.logger().warn("writing an event failed: " + made.status().message());
}

Task<Status> DefaultServiceCidr::make() {
  host_.logger().debug("creating default ServiceCIDR cidrs=" + listed(ranges_));
  Object object;
  object["kind"] = "ServiceCIDR";
  object["apiVersion"] = "networking.k8s.io/v1";
  object["metadata"].emplace_object()["name"] = kName;
  object["spec"].emplace_object()["cidrs"] = Array(ranges_.begin(), ranges_.end());
  auto made = co_await client_->create(service_cidrs(), "", std::move(object));
  if (made.ok()) co_return co_await set_ready(std::move(*made));
  // Another server has created it; the next pass checks it.
  if (made.status().code() == 409) co_return Status();
  co_return std::move(made).status();
}

// Writes the condition by a server-side apply, as upstream does, so that other conditions keep their managers.
Task<Status> DefaultServiceCidr::set_ready(Object object) {
  Object applied;
  applied["kind"] = "ServiceCIDR";
  applied["apiVersion"] = "networking.k8s.io/v1";
  applied["metadata"].emplace_object()["name"] = kName;
  Object& condition = applied["status"].emplace_object()["conditions"].emplace_array().emplace_back(Object()).as_object();
  condition["type"] = "Ready";
  condition["status"] = "True";
  condition["lastTransitionTime"] = now_rfc3339();
  condition["message"] = "Kubernetes default Service CIDR is ready";
  HttpCall call;
  call.method = "PATCH";
  call.target = "/apis/networking.k8s.io/v1/servicecidrs/" + std::string(kName) + "/status?fieldManager=" + kController + "&force=true";
  call.headers = {{"Content-Type", "application/apply-patch+yaml"}};
  call.body = to_json(applied);
  auto written = co_await client_->request(std::move(call));
  if (written.ok() || written.status().code() == 409) co_return Status();
  co_await warn(std::move(object), "KubernetesDefaultServiceCIDRError", "The default ServiceCIDR Status can not be set to Ready=True");
  co_return Status();
}

Task<Status> DefaultServiceCidr::join_family(Object object) {
  host_.logger().info("updating default ServiceCIDR from single-stack to dual-stack cidrs=" + listed(ranges_));
  Object failed = object;
  ensure_object(object, "spec")["cidrs"] = Array(ranges_.begin(), ranges_.end());
  auto written = co_await client_->update(service_cidrs(), "", std::move(object));
  if (written.ok() || written.status().code() == 409) co_return Status();
  co_await warn(std::move(failed), "KubernetesDefaultServiceCIDRError",
                "The default ServiceCIDR can not be upgraded from " + ranges_[0] + " to dual stack " + listed(ranges_) + " : " +
                    written.status().message());
  co_return Status();
}

Task<Status> DefaultServiceCidr::sync() {
  auto have = co_await client_->get(service_cidrs(), "", kName);
  if (!have.ok() && have.status().code() == 404) co_return co_await make();
  if (!have.ok()) co_return std::move(have).status();
  const CidrStep step = next_step(*have, ranges_);
  if (step == CidrStep::kJoinFamily) co_return co_await join_family(std::move(*have));
  if (step == CidrStep::kSetReady) co_return co_await set_ready(std::move(*have));
  if (step == CidrStep::kMismatch && !reported_mismatch_) {
    reported_mismatch_ = true;
    std::string note =
        "The default ServiceCIDR " + listed(ranges_of(*have)) + " does not match the controller flag configurations " + listed(ranges_);
    co_await warn(std::move(*have), "KubernetesDefaultServiceCIDRInconsistent", std::move(note));
  } else if (step == CidrStep::kNotReadyByClient && !reported_not_ready_) {
    reported_not_ready_ = true;
    const Object& condition = *ready_condition(*have);
    std::string reason(get_string(condition, "reason")),
        note = "Configuration matches, but " + std::string(get_string(condition, "message"));
    co_await warn(std::move(*have), std::move(reason), std::move(note));
  }
  co_return Status();
}

Task<Status> DefaultServiceCidr::start(PostStartHookContext context) {
  client_.emplace(host_.client());
  Sleeper sleeper(context.stop);
  for (bool running = true; running;) {
    Status done = co_await sync();
    if (done.ok()) break;
    host_.logger().error("error initializing the default ServiceCIDR: " + done.message());
    if (is_unreadable(done)) break;
    running = co_await sleeper.sleep(kFirstPause);
  }
  host_.spawn("default-service-cidr", run(context.stop));
  co_return Status();
}

Task<void> DefaultServiceCidr::run(Signal& stop) {
  Sleeper sleeper(stop);
  while (co_await sleeper.sleep(kInterval)) {
    Status done = co_await sync();
    if (!done.ok() && !stop.fired()) host_.logger().error("error trying to sync the default ServiceCIDR: " + done.message());
  }
}

}  // namespace backplane::networking
