#include "app/feature_gates.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "app/flag_values.hpp"

namespace backplane {
namespace {

enum class Stage : unsigned char { kAlpha, kBeta, kGa, kDeprecated };

struct Gate {
  std::string_view name;
  bool on;
  Stage stage;
  bool locked;  // may only be given its default
};

// The gates of Kubernetes v1.36 by name: k8s.io/kubernetes pkg/features, k8s.io/apiserver and k8s.io/apiextensions-apiserver pkg/features.
constexpr Gate kGates[] = {
    {"APIResponseCompression", true, Stage::kBeta, false},
    {"APIServerIdentity", true, Stage::kBeta, false},
    {"APIServerTracing", true, Stage::kGa, true},
    {"APIServingWithRoutine", false, Stage::kAlpha, false},
    {"AggregatedDiscoveryRemoveBetaType", true, Stage::kDeprecated, true},
    {"AllAlpha", false, Stage::kAlpha, false},
    {"AllBeta", false, Stage::kBeta, false},
    {"AllowDNSOnlyNodeCSR", false, Stage::kDeprecated, false},
    {"AllowInsecureKubeletCertificateSigningRequests", false, Stage::kDeprecated, false},
    {"AllowOverwriteTerminationGracePeriodSeconds", true, Stage::kDeprecated, true},
    {"AllowParsingUserUIDFromCertAuth", true, Stage::kBeta, false},
    {"AllowServiceExternalIPs", true, Stage::kGa, false},
    {"AllowUnsafeMalformedObjectDeletion", false, Stage::kAlpha, false},
    {"AnonymousAuthConfigurableEndpoints", true, Stage::kGa, true},
    {"AnyVolumeDataSource", true, Stage::kGa, true},
    {"AtomicFIFO", true, Stage::kBeta, false},
    {"AuthorizeNodeWithSelectors", true, Stage::kGa, true},
    {"AuthorizePodWebsocketUpgradeCreatePermission", true, Stage::kBeta, false},
    {"AuthorizeWithSelectors", true, Stage::kGa, true},
    {"BtreeWatchCache", true, Stage::kGa, true},
    {"CBORServingAndStorage", false, Stage::kAlpha, false},
    {"CPUManagerPolicyAlphaOptions", false, Stage::kAlpha, false},
    {"CPUManagerPolicyBetaOptions", true, Stage::kBeta, false},
    {"CPUManagerPolicyOptions", true, Stage::kGa, true},
    {"CRDObservedGenerationTracking", true, Stage::kBeta, false},
    {"CRDValidationRatcheting", true, Stage::kGa, true},
    {"CRIListStreaming", false, Stage::kAlpha, false},
    {"CSIServiceAccountTokenSecrets", true, Stage::kGa, true},
    {"CSIVolumeHealth", false, Stage::kAlpha, false},
    {"ChangeContainerStatusOnKubeletRestart", false, Stage::kDeprecated, false},
    {"ClearingNominatedNodeNameAfterBinding", true, Stage::kBeta, false},
    {"ClientsAllowCARotation", true, Stage::kBeta, false},
    {"ClientsAllowCBOR", false, Stage::kAlpha, false},
    {"ClientsAllowTLSCacheGC", true, Stage::kBeta, false},
    {"ClientsPreferCBOR", false, Stage::kAlpha, false},
    {"CloudControllerManagerWatchBasedRoutesReconciliation", false, Stage::kAlpha, false},
    {"CloudControllerManagerWebhook", false, Stage::kAlpha, false},
    {"ClusterTrustBundle", false, Stage::kBeta, false},
    {"ClusterTrustBundleProjection", false, Stage::kBeta, false},
    {"ComponentFlagz", true, Stage::kBeta, false},
    {"ComponentStatusz", true, Stage::kBeta, false},
    {"ConcurrentWatchObjectDecode", false, Stage::kBeta, false},
    {"ConsistentListFromCache", true, Stage::kGa, true},
    {"ConstrainedImpersonation", true, Stage::kBeta, false},
    {"ContainerCheckpoint", true, Stage::kBeta, false},
    {"ContainerRestartRules", true, Stage::kBeta, false},
    {"ContainerStopSignals", false, Stage::kAlpha, false},
    {"ContextualLogging", true, Stage::kBeta, false},
    {"ControllerManagerReleaseLeaderElectionLockOnExit", false, Stage::kAlpha, false},
    {"CoordinatedLeaderElection", false, Stage::kBeta, false},
    {"CrossNamespaceVolumeDataSource", false, Stage::kAlpha, false},
    {"CustomResourceFieldSelectors", true, Stage::kGa, true},
    {"DRAAdminAccess", true, Stage::kGa, true},
    {"DRAConsumableCapacity", true, Stage::kBeta, false},
    {"DRADeviceBindingConditions", true, Stage::kBeta, false},
    {"DRADeviceTaintRules", false, Stage::kBeta, false},
    {"DRADeviceTaints", true, Stage::kBeta, false},
    {"DRAExtendedResource", true, Stage::kBeta, false},
    {"DRAListTypeAttributes", false, Stage::kAlpha, false},
    {"DRANodeAllocatableResources", false, Stage::kAlpha, false},
    {"DRAPartitionableDevices", true, Stage::kBeta, false},
    {"DRAPrioritizedList", true, Stage::kGa, false},
    {"DRAResourceClaimDeviceStatus", true, Stage::kBeta, false},
    {"DRAResourceClaimGranularStatusAuthorization", true, Stage::kBeta, false},
    {"DRAResourcePoolStatus", false, Stage::kAlpha, false},
    {"DRASchedulerFilterTimeout", true, Stage::kBeta, false},
    {"DRAWorkloadResourceClaims", false, Stage::kAlpha, false},
    {"DeclarativeValidation", true, Stage::kGa, true},
    {"DeclarativeValidationBeta", true, Stage::kBeta, false},
    {"DeclarativeValidationTakeover", false, Stage::kDeprecated, false},
    {"DeploymentReplicaSetTerminatingReplicas", true, Stage::kBeta, false},
    {"DetectCacheInconsistency", true, Stage::kBeta, false},
    {"DisableAllocatorDualWrite", true, Stage::kGa, true},
    {"DisableCPUQuotaWithExclusiveCPUs", true, Stage::kDeprecated, false},
    {"DisableNodeKubeProxyVersion", true, Stage::kDeprecated, true},
    {"EnvFiles", true, Stage::kBeta, false},
    {"EventedPLEG", false, Stage::kAlpha, false},
    {"ExecProbeTimeout", true, Stage::kGa, true},
    {"ExtendWebSocketsToKubelet", true, Stage::kBeta, false},
    {"ExternalServiceAccountTokenSigner", true, Stage::kGa, true},
    {"GangScheduling", false, Stage::kAlpha, false},
    {"GenericWorkload", false, Stage::kAlpha, false},
    {"GitRepoVolumeDriver", true, Stage::kDeprecated, true},
    {"GracefulNodeShutdown", true, Stage::kBeta, false},
    {"GracefulNodeShutdownBasedOnPodPriority", true, Stage::kBeta, false},
    {"HPAConfigurableTolerance", true, Stage::kBeta, false},
    {"HPAScaleToZero", false, Stage::kAlpha, false},
    {"HostnameOverride", true, Stage::kBeta, false},
    {"ImageMaximumGCAge", true, Stage::kGa, true},
    {"ImageVolume", true, Stage::kGa, true},
    {"ImageVolumeWithDigest", false, Stage::kAlpha, false},
    {"InOrderInformersBatchProcess", true, Stage::kBeta, false},
    {"InPlacePodLevelResourcesVerticalScaling", true, Stage::kBeta, false},
    {"InPlacePodVerticalScaling", true, Stage::kGa, true},
    {"InPlacePodVerticalScalingExclusiveCPUs", false, Stage::kAlpha, false},
    {"InPlacePodVerticalScalingExclusiveMemory", false, Stage::kAlpha, false},
    {"InPlacePodVerticalScalingInitContainers", true, Stage::kBeta, false},
    {"JobBackoffLimitPerIndex", true, Stage::kGa, true},
    {"JobManagedBy", true, Stage::kGa, true},
    {"JobPodReplacementPolicy", true, Stage::kGa, true},
    {"JobSuccessPolicy", true, Stage::kGa, true},
    {"KMSv1", false, Stage::kDeprecated, false},
    {"KubeletCgroupDriverFromCRI", true, Stage::kGa, true},
    {"KubeletCrashLoopBackOffMax", true, Stage::kBeta, false},
    {"KubeletEnsureSecretPulledImages", true, Stage::kBeta, false},
    {"KubeletFineGrainedAuthz", true, Stage::kGa, true},
    {"KubeletInUserNamespace", false, Stage::kAlpha, false},
    {"KubeletPSI", true, Stage::kGa, true},
    {"KubeletPodResourcesDynamicResources", true, Stage::kGa, true},
    {"KubeletPodResourcesGet", true, Stage::kGa, true},
    {"KubeletPodResourcesListUseActivePods", true, Stage::kDeprecated, false},
    {"KubeletRegistrationGetOnExistsOnly", false, Stage::kDeprecated, false},
    {"KubeletSeparateDiskGC", true, Stage::kBeta, false},
    {"KubeletServiceAccountTokenForCredentialProviders", true, Stage::kBeta, false},
    {"KubeletTracing", true, Stage::kGa, true},
    {"ListFromCacheSnapshot", true, Stage::kBeta, false},
    {"LocalStorageCapacityIsolationFSQuotaMonitoring", false, Stage::kBeta, false},
    {"LogarithmicScaleDown", true, Stage::kGa, true},
    {"LoggingAlphaOptions", false, Stage::kAlpha, false},
    {"LoggingBetaOptions", true, Stage::kBeta, false},
    {"ManifestBasedAdmissionControlConfig", false, Stage::kAlpha, false},
    {"MatchLabelKeysInPodAffinity", true, Stage::kGa, true},
    {"MatchLabelKeysInPodTopologySpread", true, Stage::kBeta, false},
    {"MatchLabelKeysInPodTopologySpreadSelectorMerge", true, Stage::kBeta, false},
    {"MaxUnavailableStatefulSet", false, Stage::kBeta, false},
    {"MemoryQoS", false, Stage::kAlpha, false},
    {"MultiCIDRServiceAllocator", true, Stage::kGa, true},
    {"MutableCSINodeAllocatableCount", true, Stage::kGa, true},
    {"MutablePVNodeAffinity", false, Stage::kAlpha, false},
    {"MutablePodResourcesForSuspendedJobs", true, Stage::kBeta, false},
    {"MutableSchedulingDirectivesForSuspendedJobs", true, Stage::kBeta, false},
    {"MutatingAdmissionPolicy", true, Stage::kGa, false},
    {"NFTablesProxyMode", true, Stage::kGa, true},
    {"NativeHistograms", false, Stage::kAlpha, false},
    {"NodeDeclaredFeatures", true, Stage::kBeta, false},
    {"NodeInclusionPolicyInPodTopologySpread", true, Stage::kGa, true},
    {"NodeLogQuery", true, Stage::kGa, true},
    {"NodeSwap", true, Stage::kGa, true},
    {"NominatedNodeNameForExpectation", true, Stage::kBeta, false},
    {"OpenAPIEnums", true, Stage::kBeta, false},
    {"OpportunisticBatching", true, Stage::kBeta, false},
    {"OrderedNamespaceDeletion", true, Stage::kGa, true},
    {"PLEGOnDemandRelist", true, Stage::kBeta, false},
    {"PersistentVolumeClaimUnusedSinceTime", false, Stage::kAlpha, false},
    {"PodAndContainerStatsFromCRI", false, Stage::kAlpha, false},
    {"PodCertificateRequest", false, Stage::kBeta, false},
    {"PodDeletionCost", true, Stage::kBeta, false},
    {"PodLevelResourceManagers", false, Stage::kAlpha, false},
    {"PodLevelResources", true, Stage::kBeta, false},
    {"PodLifecycleSleepAction", true, Stage::kGa, true},
    {"PodLifecycleSleepActionAllowZero", true, Stage::kGa, true},
    {"PodLogsQuerySplitStreams", false, Stage::kAlpha, false},
    {"PodObservedGenerationTracking", true, Stage::kGa, true},
    {"PodReadyToStartContainersCondition", true, Stage::kBeta, false},
    {"PodSchedulingReadiness", true, Stage::kGa, true},
    {"PodTopologyLabelsAdmission", true, Stage::kBeta, false},
    {"PodsAPI", false, Stage::kAlpha, false},
    {"PortForwardWebsockets", true, Stage::kBeta, false},
    {"PreferSameTrafficDistribution", true, Stage::kGa, true},
    {"PreventStaticPodAPIReferences", true, Stage::kBeta, false},
    {"ProcMountType", true, Stage::kGa, true},
    {"QOSReserved", false, Stage::kAlpha, false},
    {"RecoverVolumeExpansionFailure", true, Stage::kGa, true},
    {"RecursiveReadOnlyMounts", true, Stage::kGa, true},
    {"ReduceDefaultCrashLoopBackOffDecay", false, Stage::kAlpha, false},
    {"RelaxedDNSSearchValidation", true, Stage::kGa, true},
    {"RelaxedEnvironmentVariableValidation", true, Stage::kGa, true},
    {"RelaxedServiceNameValidation", true, Stage::kBeta, false},
    {"ReloadKubeletClientCAFile", true, Stage::kBeta, false},
    {"ReloadKubeletServerCertificateFile", true, Stage::kBeta, false},
    {"RemoteRequestHeaderUID", true, Stage::kBeta, false},
    {"ResilientWatchCacheInitialization", true, Stage::kGa, true},
    {"ResourceHealthStatus", true, Stage::kBeta, false},
    {"ResourceHealthStatusMessage", true, Stage::kBeta, false},
    {"RestartAllContainersOnContainerExits", true, Stage::kBeta, false},
    {"RetryGenerateName", true, Stage::kGa, true},
    {"RotateKubeletServerCertificate", true, Stage::kBeta, false},
    {"RuntimeClassInImageCriApi", false, Stage::kAlpha, false},
    {"SELinuxChangePolicy", true, Stage::kGa, true},
    {"SELinuxMount", false, Stage::kBeta, false},
    {"SELinuxMountReadWriteOncePod", true, Stage::kGa, true},
    {"SchedulerAsyncAPICalls", false, Stage::kBeta, false},
    {"SchedulerAsyncPreemption", true, Stage::kBeta, false},
    {"SchedulerPopFromBackoffQ", true, Stage::kBeta, false},
    {"SchedulerQueueingHints", true, Stage::kGa, true},
    {"SeparateCacheWatchRPC", true, Stage::kDeprecated, true},
    {"SeparateTaintEvictionController", true, Stage::kGa, true},
    {"ServiceAccountNodeAudienceRestriction", true, Stage::kBeta, false},
    {"ServiceAccountTokenJTI", true, Stage::kGa, true},
    {"ServiceAccountTokenNodeBinding", true, Stage::kGa, true},
    {"ServiceAccountTokenNodeBindingValidation", true, Stage::kGa, true},
    {"ServiceAccountTokenPodNodeInfo", true, Stage::kGa, true},
    {"ServiceCIDRStatusFieldWiping", true, Stage::kDeprecated, false},
    {"ShardedListAndWatch", false, Stage::kAlpha, false},
    {"SidecarContainers", true, Stage::kGa, true},
    {"SizeBasedListCostEstimate", true, Stage::kBeta, false},
    {"StaleControllerConsistencyDaemonSet", true, Stage::kBeta, false},
    {"StaleControllerConsistencyJob", true, Stage::kBeta, false},
    {"StaleControllerConsistencyReplicaSet", true, Stage::kBeta, false},
    {"StaleControllerConsistencyStatefulSet", true, Stage::kBeta, false},
    {"StatefulSetSemanticRevisionComparison", true, Stage::kBeta, false},
    {"StorageCapacityScoring", false, Stage::kAlpha, false},
    {"StorageNamespaceIndex", true, Stage::kDeprecated, false},
    {"StorageVersionAPI", false, Stage::kAlpha, false},
    {"StorageVersionHash", true, Stage::kBeta, false},
    {"StorageVersionMigrator", false, Stage::kBeta, false},
    {"StreamingCollectionEncodingToJSON", true, Stage::kGa, true},
    {"StreamingCollectionEncodingToProtobuf", true, Stage::kGa, true},
    {"StrictIPCIDRValidation", true, Stage::kBeta, false},
    {"StructuredAuthenticationConfiguration", true, Stage::kGa, true},
    {"StructuredAuthenticationConfigurationEgressSelector", true, Stage::kBeta, false},
    {"StructuredAuthenticationConfigurationJWKSMetrics", true, Stage::kBeta, false},
    {"SupplementalGroupsPolicy", true, Stage::kGa, true},
    {"SystemdWatchdog", true, Stage::kGa, true},
    {"TaintTolerationComparisonOperators", false, Stage::kAlpha, false},
    {"TokenRequestServiceAccountUIDValidation", true, Stage::kBeta, false},
    {"TopologyAwareWorkloadScheduling", false, Stage::kAlpha, false},
    {"TopologyManagerPolicyAlphaOptions", false, Stage::kAlpha, false},
    {"TopologyManagerPolicyBetaOptions", true, Stage::kBeta, false},
    {"TopologyManagerPolicyOptions", true, Stage::kGa, true},
    {"TranslateStreamCloseWebsocketRequests", true, Stage::kBeta, false},
    {"UnauthenticatedHTTP2DOSMitigation", true, Stage::kBeta, false},
    {"UnknownVersionInteroperabilityProxy", true, Stage::kBeta, false},
    {"UnlockWhileProcessingFIFO", true, Stage::kBeta, false},
    {"UserNamespacesHostNetworkSupport", false, Stage::kAlpha, false},
    {"UserNamespacesSupport", true, Stage::kGa, true},
    {"VolumeAttributesClass", true, Stage::kGa, true},
    {"VolumeLimitScaling", false, Stage::kAlpha, false},
    {"WatchCacheInitializationPostStartHook", true, Stage::kBeta, false},
    {"WatchList", true, Stage::kBeta, false},
    {"WatchListClient", true, Stage::kBeta, false},
    {"WinDSR", true, Stage::kGa, true},
    {"WinOverlay", true, Stage::kGa, true},
    {"WindowsCPUAndMemoryAffinity", false, Stage::kAlpha, false},
    {"WindowsGracefulNodeShutdown", true, Stage::kBeta, false},
    {"WindowsHostNetwork", false, Stage::kDeprecated, false},
    {"WorkloadAwarePreemption", false, Stage::kAlpha, false},
    {"WorkloadWithJob", false, Stage::kAlpha, false},
};

// The gates that something here asks: the host, and x-backplane-gate in the types of the built-in kinds.
constexpr std::string_view kSwitched[] = {
    "APIResponseCompression",
    "AllowUnsafeMalformedObjectDeletion",
    "CBORServingAndStorage",
    "CRDObservedGenerationTracking",
    "ClusterTrustBundle",
    "ClusterTrustBundleProjection",
    "ComponentFlagz",
    "ComponentStatusz",
    "ContainerRestartRules",
    "ContainerStopSignals",
    "CoordinatedLeaderElection",
    "CrossNamespaceVolumeDataSource",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRAResourceClaimDeviceStatus",
    "DRAWorkloadResourceClaims",
    "DeploymentReplicaSetTerminatingReplicas",
    "EnvFiles",
    "GenericWorkload",
    "HPAConfigurableTolerance",
    "HostnameOverride",
    "ImageVolumeWithDigest",
    "InPlacePodLevelResourcesVerticalScaling",
    "LoggingAlphaOptions",
    "MatchLabelKeysInPodTopologySpread",
    "MaxUnavailableStatefulSet",
    "MutablePVNodeAffinity",
    "MutablePodResourcesForSuspendedJobs",
    "MutableSchedulingDirectivesForSuspendedJobs",
    "NodeDeclaredFeatures",
    "OpenAPIEnums",
    "PodCertificateRequest",
    "PodLevelResources",
    "ResourceHealthStatus",
    "ResourceHealthStatusMessage",
    "StorageVersionAPI",
    "StorageVersionMigrator",
    "TopologyAwareWorkloadScheduling",
    "UnauthenticatedHTTP2DOSMitigation",
    "VolumeLimitScaling",
    "WorkloadAwarePreemption",
};
// The gates whose behaviour is there whatever they say; of those about fields of kinds, the server's part: fields are taken, checked,
// stored.
constexpr std::string_view kAlwaysThere[] = {
    "AggregatedDiscoveryRemoveBetaType",
    "AllowServiceExternalIPs",
    "AnyVolumeDataSource",
    "AuthorizeWithSelectors",
    "BtreeWatchCache",
    "CRDValidationRatcheting",
    "ConsistentListFromCache",
    "CustomResourceFieldSelectors",
    "DisableAllocatorDualWrite",
    "ImageVolume",
    "ListFromCacheSnapshot",
    "MatchLabelKeysInPodAffinity",
    "MatchLabelKeysInPodTopologySpreadSelectorMerge",
    "NodeInclusionPolicyInPodTopologySpread",
    "PodLifecycleSleepAction",
    "PodLifecycleSleepActionAllowZero",
    "PodObservedGenerationTracking",
    "PodSchedulingReadiness",
    "PreferSameTrafficDistribution",
    "ProcMountType",
    "RecursiveReadOnlyMounts",
    "RelaxedDNSSearchValidation",
    "RelaxedEnvironmentVariableValidation",
    "RelaxedServiceNameValidation",
    "ResilientWatchCacheInitialization",
    "RetryGenerateName",
    "SELinuxChangePolicy",
    "SidecarContainers",
    "StorageVersionHash",
    "StreamingCollectionEncodingToJSON",
    "StreamingCollectionEncodingToProtobuf",
    "StrictIPCIDRValidation",
    "SupplementalGroupsPolicy",
    "UserNamespacesSupport",
    "WatchCacheInitializationPostStartHook",
    "WatchList",
};

// Gates that need others: who is on while one of those is off ends the start.  Those that are locked on are left out.
struct Dependency {
  std::string_view name;
  std::array<std::string_view, 2> on;
};
constexpr Dependency kDependencies[] = {
    {"ClusterTrustBundleProjection", {"ClusterTrustBundle"}},
    {"DRADeviceBindingConditions", {"DRAResourceClaimDeviceStatus"}},
    {"DRADeviceTaintRules", {"DRADeviceTaints"}},
    {"DRAResourceClaimGranularStatusAuthorization", {"DRAResourceClaimDeviceStatus"}},
    {"DRAWorkloadResourceClaims", {"GenericWorkload"}},
    {"ExtendWebSocketsToKubelet", {"NodeDeclaredFeatures"}},
    {"GangScheduling", {"GenericWorkload"}},
    {"GracefulNodeShutdownBasedOnPodPriority", {"GracefulNodeShutdown"}},
    {"InPlacePodLevelResourcesVerticalScaling", {"NodeDeclaredFeatures", "PodLevelResources"}},
    {"InPlacePodVerticalScalingInitContainers", {"NodeDeclaredFeatures"}},
    {"MatchLabelKeysInPodTopologySpreadSelectorMerge", {"MatchLabelKeysInPodTopologySpread"}},
    {"PodLevelResourceManagers", {"PodLevelResources"}},
    {"ResourceHealthStatusMessage", {"ResourceHealthStatus"}},
    {"RestartAllContainersOnContainerExits", {"ContainerRestartRules", "NodeDeclaredFeatures"}},
    {"StaleControllerConsistencyDaemonSet", {"AtomicFIFO"}},
    {"StaleControllerConsistencyJob", {"AtomicFIFO"}},
    {"StaleControllerConsistencyReplicaSet", {"AtomicFIFO"}},
    {"StaleControllerConsistencyStatefulSet", {"AtomicFIFO"}},
    {"StorageVersionAPI", {"APIServerIdentity"}},
    {"TopologyAwareWorkloadScheduling", {"GenericWorkload"}},
    {"UnknownVersionInteroperabilityProxy", {"APIServerIdentity"}},
    {"UserNamespacesHostNetworkSupport", {"NodeDeclaredFeatures"}},
    {"WindowsGracefulNodeShutdown", {"GracefulNodeShutdown"}},
    {"WorkloadAwarePreemption", {"GangScheduling"}},
    {"WorkloadWithJob", {"GenericWorkload"}},
};

template <class List>
bool has(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

const Gate* find_gate(std::string_view name) {
  const auto found =
      std::lower_bound(std::begin(kGates), std::end(kGates), name, [](const Gate& gate, std::string_view n) { return gate.name < n; });
  return found == std::end(kGates) || found->name != name ? nullptr : found;
}

std::string switched_of(Stage stage) {
  std::string names;
  for (const std::string_view name : kSwitched) {
    if (find_gate(name)->stage == stage) names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

// `kube:` names the component; it is the only one here.
std::string_view without_component(std::string_view item) {
  constexpr std::string_view kComponent = "kube:";
  return item.starts_with(kComponent) ? item.substr(kComponent.size()) : item;
}

}  // namespace

FeatureGates::FeatureGates() {
  for (const auto& gate : kGates) on_.emplace(gate.name, gate.on);
}

void FeatureGates::set_stage(std::string_view all, bool on) {
  const Stage stage = all == "AllAlpha" ? Stage::kAlpha : Stage::kBeta;
  for (const auto& gate : kGates) {
    if (gate.stage == stage && gate.name != "AllAlpha" && gate.name != "AllBeta") on_.find(gate.name)->second = on;
  }
}

void FeatureGates::set_one(std::string_view name, bool on, std::vector<std::string>& problems) {
  const Gate& gate = *find_gate(name);
  if (gate.locked && on != gate.on) {
    problems.push_back("cannot set feature gate " + std::string(name) + " to " + (on ? "true" : "false") + ", feature is locked to " +
                       (gate.on ? "true" : "false"));
    return;
  }
  on_.find(name)->second = on;
  named_.emplace(name);
  if (name == "AllAlpha" || name == "AllBeta") set_stage(name, on);
  if (gate.stage != Stage::kGa && gate.stage != Stage::kDeprecated) return;
  const bool ga = gate.stage == Stage::kGa;
  remarks_.push_back(std::string("Setting ") + (ga ? "GA" : "deprecated") + " feature gate " + std::string(name) + "=" +
                     (on ? "true" : "false") + ". It will be removed in a future release.");
}

std::vector<std::string> FeatureGates::set(const std::vector<std::string>& items) {
  std::vector<std::string> problems;
  // AllAlpha and AllBeta first: a gate that is named itself wins.
  for (const bool stages : {true, false}) {
    for (const auto& item : items) {
      const std::string_view pair = without_component(item);
      if (pair.empty()) continue;
      const auto equals = pair.find('=');
      const std::string_view name = pair.substr(0, equals);
      if ((name == "AllAlpha" || name == "AllBeta") != stages) continue;
      const std::string_view value = equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
      if (equals == std::string_view::npos) {
        problems.push_back("missing bool value for " + std::string(name));
      } else if (auto problem = flag_value_problem(FlagType::kBool, value); !problem.empty()) {
        problems.push_back("invalid value of " + std::string(pair) + ", err: " + problem);
      } else if (find_gate(name) == nullptr) {
        problems.push_back("unrecognized feature gate: " + std::string(name));
      } else {
        set_one(name, to_bool(value), problems);
      }
    }
  }
  if (problems.empty()) check_dependencies(problems);
  return problems;
}

void FeatureGates::check_dependencies(std::vector<std::string>& problems) const {
  for (const Dependency& dependency : kDependencies) {
    if (!enabled(dependency.name)) continue;
    std::string off;
    for (const std::string_view needed : dependency.on) {
      if (!needed.empty() && !enabled(needed)) off.append(off.empty() ? "" : " ").append(needed);
    }
    if (off.empty()) continue;
    problems.push_back(std::string(dependency.name) + " is enabled, but depends on features that are disabled: [" + off + "]");
  }
}

std::string_view FeatureGates::stage_of(std::string_view name) {
  static constexpr std::string_view kWords[] = {"ALPHA", "BETA", "", "DEPRECATED"};
  const Gate* gate = find_gate(name);
  return gate == nullptr ? std::string_view() : kWords[static_cast<std::size_t>(gate->stage)];
}

bool FeatureGates::in_effect(std::string_view name) const { return has(kSwitched, name) ? enabled(name) : has(kAlwaysThere, name); }

std::string FeatureGates::switched() {
  std::string names;
  for (const std::string_view name : kSwitched) names.append(names.empty() ? "" : ", ").append(name);
  return names;
}

std::vector<std::string> FeatureGates::without_effect() const {
  std::vector<std::string> names;
  for (const auto& name : named_) {
    if (name == "AllAlpha" || name == "AllBeta") {
      const std::string exceptions = switched_of(name == "AllAlpha" ? Stage::kAlpha : Stage::kBeta);
      names.push_back(name + (exceptions.empty() ? "" : " (but for " + exceptions + ")"));
    } else if (enabled(name) != in_effect(name)) {
      names.push_back(name);
    }
  }
  return names;
}

bool FeatureGates::enabled(std::string_view name) const {
  const auto found = on_.find(name);
  return found != on_.end() && found->second;
}

}  // namespace backplane
