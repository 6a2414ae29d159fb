#include "cel/function_costs.hpp"

#include <algorithm>

namespace backplane::cel_detail {
namespace {

constexpr FunctionCost kRows[] = {
    {"check", estimates::check, charges::check},
    {"serviceAccount", estimates::one, charges::one},
    {"path", estimates::one, charges::one},
    {"group", estimates::one, charges::one},
    {"resource", estimates::one, charges::one},
    {"subresource", estimates::one, charges::one},
    {"namespace", estimates::one, charges::one},
    {"name", estimates::one, charges::one},
    {"allowed", estimates::one, charges::one},
    {"reason", estimates::one, charges::one},
    {"error", estimates::one, charges::one},
    {"errored", estimates::one, charges::one},
    {"fieldSelector", estimates::selector, charges::selector},
    {"labelSelector", estimates::selector, charges::selector},
    {"isSorted", estimates::over_list, charges::whole_first},
    {"sum", estimates::over_list, charges::whole_first},
    {"max", estimates::over_list, charges::whole_first},
    {"min", estimates::over_list, charges::whole_first},
    {"indexOf", estimates::over_list, charges::whole_first},
    {"lastIndexOf", estimates::over_list, charges::whole_first},
    {"url", estimates::walked_argument, charges::traverse},
    {"jsonpatch.escapeKey", estimates::walked_argument, charges::traverse},
    {"lowerAscii", estimates::walked_target, charges::traverse},
    {"upperAscii", estimates::walked_target, charges::traverse},
    {"substring", estimates::walked_target, charges::traverse},
    {"trim", estimates::walked_target, charges::traverse},
    {"replace", estimates::replace, charges::traverse_twice},
    {"split", estimates::split, charges::traverse_twice},
    {"join", estimates::join, charges::make_result},
    {"find", estimates::find, charges::pattern},
    {"findAll", estimates::find, charges::pattern},
    {"cidr", estimates::read_once, charges::traverse},
    {"isIP", estimates::read_once, charges::traverse},
    {"isCIDR", estimates::read_once, charges::traverse},
    {"ip", estimates::ip, nullptr},
    {"ip.isCanonical", estimates::read_twice, charges::traverse_twice},
    {"masked", estimates::one, nullptr},
    {"prefixLength", estimates::one, nullptr},
    {"family", estimates::one, nullptr},
    {"isUnspecified", estimates::one, nullptr},
    {"isLoopback", estimates::one, nullptr},
    {"isLinkLocalMulticast", estimates::one, nullptr},
    {"isLinkLocalUnicast", estimates::one, nullptr},
    {"isGlobalUnicast", estimates::one, nullptr},
    {"containsIP", estimates::contains_ip, nullptr},
    {"containsCIDR", estimates::contains_cidr, nullptr},
    {"quantity", estimates::read_once, charges::traverse},
    {"isQuantity", estimates::read_once, charges::traverse},
    {"semver", estimates::read_once, charges::traverse},
    {"isSemver", estimates::read_once, charges::traverse},
    {"validate", estimates::validate, charges::validate},
    {"format.named", estimates::one, nullptr},
    {"sign", estimates::one, nullptr},
    {"asInteger", estimates::one, nullptr},
    {"isInteger", estimates::one, nullptr},
    {"asApproximateFloat", estimates::one, nullptr},
    {"isGreaterThan", estimates::one, nullptr},
    {"isLessThan", estimates::one, nullptr},
    {"compareTo", estimates::one, nullptr},
    {"add", estimates::one, nullptr},
    {"sub", estimates::one, nullptr},
    {"major", estimates::one, nullptr},
    {"minor", estimates::one, nullptr},
    {"patch", estimates::one, nullptr},
    {"getScheme", estimates::one, nullptr},
    {"getHostname", estimates::one, nullptr},
    {"getHost", estimates::one, nullptr},
    {"getPort", estimates::one, nullptr},
    {"getEscapedPath", estimates::one, nullptr},
    {"getQuery", estimates::one, nullptr},
    {"_==_", estimates::equals, charges::equality},
};

}  // namespace

const FunctionCost* find_function_cost(std::string_view function) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const FunctionCost& each) { return each.function == function; });
  return row == std::end(kRows) ? nullptr : row;
}

std::optional<CallEstimate> kubernetes_call_cost(const CostedCall& call) {
  const FunctionCost* row = find_function_cost(call.function);
  return row == nullptr ? std::nullopt : row->estimate(call);
}

}  // namespace backplane::cel_detail
