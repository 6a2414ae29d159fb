// IP addresses and ranges in fields that are older than today's strict forms: what is refused, and what is only warned of.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/visibility.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// Why a text is no address; empty: it is one, though perhaps not in canonical form.
std::vector<std::string> legacy_ip_problems(std::string_view text);
std::vector<std::string> legacy_cidr_problems(std::string_view text);

// "spec.externalIPs[0]: IPv6 address … should be in RFC 5952 canonical format (…)"; nothing for a text that is no address at all.
std::vector<std::string> ip_warnings(const std::string& path, std::string_view text);
std::vector<std::string> cidr_warnings(const std::string& path, std::string_view text);

// Whether the texts are addresses of both families; a reason in `why` when one of them is no address.
bool is_dual_stack(const std::vector<std::string>& ips, std::string& why);

}  // namespace BACKPLANE_API
}  // namespace backplane
