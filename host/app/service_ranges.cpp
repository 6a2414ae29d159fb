#include "app/service_ranges.hpp"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "app/flag_values.hpp"

namespace backplane {
namespace {

// controlplaneapiserver.ServiceIPRange refuses smaller ranges.
constexpr int kLeastHostBits = 3;
constexpr int kShortestSixPrefix = 64;  // addresses of a wider range are not allocated
constexpr int kMaxPort = 65535;

struct Cidr {
  bool six = false;
  int prefix = 0;
  std::array<unsigned char, 16> base{};  // with the host bits cleared
  int width() const noexcept { return six ? 128 : 32; }
};

std::optional<Cidr> parse_cidr(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  Cidr cidr;
  const std::string host(text.substr(0, slash));
  cidr.six = host.find(':') != std::string::npos;
  if (inet_pton(cidr.six ? AF_INET6 : AF_INET, host.c_str(), cidr.base.data()) != 1) return std::nullopt;
  const std::string_view bits = text.substr(slash + 1);
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), cidr.prefix);
  if (error != std::errc() || end != bits.data() + bits.size() || cidr.prefix < 0 || cidr.prefix > cidr.width()) return std::nullopt;
  for (int bit = cidr.prefix; bit < cidr.width(); ++bit) {
    cidr.base[static_cast<std::size_t>(bit / 8)] &= static_cast<unsigned char>(~(0x80u >> (bit % 8)));
  }
  return cidr;
}

// "first-last", "first+more" or one port; the flag's type has checked the syntax.
std::pair<int, int> parse_ports(const std::string& text) {
  const int first = std::atoi(text.c_str());
  const auto sign = text.find_first_of("-+");
  if (sign == std::string::npos) return {first, first};
  const int second = std::atoi(text.c_str() + sign + 1);
  return {first, text[sign] == '+' ? first + second : second};
}

}  // namespace

void validate_service_ranges(std::string_view value, Problems& problems) {
  const auto ranges = split_list(value);
  if (ranges.size() > 2) problems.push_back("--service-cluster-ip-range must not contain more than two entries");
  std::array<std::optional<Cidr>, 2> parsed;
  for (std::size_t i = 0; i < ranges.size() && i < parsed.size(); ++i) {
    parsed[i] = parse_cidr(ranges[i]);
    if (!parsed[i]) {
      problems.push_back("service-cluster-ip-range[" + std::to_string(i) + "] is not a valid cidr: " + backplane::quoted(ranges[i]));
    } else if (parsed[i]->width() - parsed[i]->prefix < kLeastHostBits) {
      problems.push_back("service-cluster-ip-range[" + std::to_string(i) +
                         "]: the service cluster IP range must be at least 8 IP addresses");
    } else if (parsed[i]->six && parsed[i]->prefix < kShortestSixPrefix) {
      problems.push_back("service-cluster-ip-range[" + std::to_string(i) + "]: shortest allowed prefix length for service CIDR is " +
                         std::to_string(kShortestSixPrefix) + ", got " + std::to_string(parsed[i]->prefix));
    }
  }
  if (parsed[0] && parsed[1] && parsed[0]->six == parsed[1]->six) {
    problems.push_back("--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family");
  }
}

void validate_kubernetes_service(const KubernetesServiceFlags& flags, Problems& problems) {
  const int port = std::atoi(flags.node_port.c_str());
  const auto [first, last] = parse_ports(flags.node_port_range);
  // The plugin that allocates the ports would be rejected, and with it the plugins that require it.
  if (first < 1) problems.push_back("--service-node-port-range " + flags.node_port_range + " must begin with a port above 0");
  if (port < 0 || port > kMaxPort) {
    problems.push_back("--kubernetes-service-node-port " + flags.node_port +
                       " must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP");
  }
  if (port > 0 && (port < first || port > last)) {
    problems.push_back("kubernetes service node port range " + std::to_string(first) + "-" + std::to_string(last) + " doesn't contain " +
                       flags.node_port);
  }
  const std::string& type = flags.reconciler_type;
  if (type == "none") return;
  if (!type.empty() && type != "lease" && type != "master-count") {
    problems.push_back("--endpoint-reconciler-type: endpoint reconciler not implemented: " + type +
                       "; there are: lease, master-count, none");
  }
  // The endpoints of the kubernetes service are not maintained if they could only hold a loopback address.
  const std::string& address = flags.advertise_address;
  const auto range = parse_cidr(std::string_view(flags.cluster_ip_range).substr(0, flags.cluster_ip_range.find(',')));
  if (!range || address.starts_with("127.") || address == "::1") return;
  if (range->six != (address.find(':') != std::string::npos)) {
    problems.push_back("service IP family " + backplane::quoted(flags.cluster_ip_range.substr(0, flags.cluster_ip_range.find(','))) +
                       " must match public address family " + backplane::quoted(address));
  }
}

std::string first_service_address(std::string_view value) {
  const auto cidr = parse_cidr(value.substr(0, value.find(',')));
  if (!cidr || cidr->prefix == cidr->width()) return {};
  auto address = cidr->base;
  address[static_cast<std::size_t>(cidr->width() / 8 - 1)] |= 1;  // the base's last bit is clear
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(cidr->six ? AF_INET6 : AF_INET, address.data(), text.data(), text.size());
}

std::string service_range(const Options& options) {
  const std::string range = options.flags.text("service-cluster-ip-range").value_or("");
  return range.empty() ? "10.0.0.0/24" : range;
}

std::string with_port(const std::string& host, int port) {
  const auto colon = host.find(':');
  const bool bracketed = host.starts_with('[');
  const bool has_port =
      bracketed ? host.find("]:") != std::string::npos : colon != std::string::npos && host.find(':', colon + 1) == std::string::npos;
  if (has_port) return host;
  const bool bare_six = !bracketed && colon != std::string::npos;
  return (bare_six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<std::pair<std::string, std::string>> service_address_for(std::string_view value, const std::string& client_ip) {
  constexpr int kServicePort = 443;
  const std::string range(value.substr(0, value.find(',')));
  const auto network = parse_cidr(range);
  if (!network) return std::nullopt;
  // The client's network of that size is this network.
  const auto own = parse_cidr(client_ip + range.substr(range.find('/')));
  if (!own || own->six != network->six || own->base != network->base) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> base{};
  inet_ntop(network->six ? AF_INET6 : AF_INET, network->base.data(), base.data(), base.size());
  return std::pair(std::string(base.data()) + range.substr(range.find('/')), with_port(first_service_address(range), kServicePort));
}

}  // namespace backplane
