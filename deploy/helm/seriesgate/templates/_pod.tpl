{{/* The pods of one gate and of a fleet. */}}
{{- define "seriesgate.pod" -}}
metadata:
  labels:
    {{- include "seriesgate.selector" . | nindent 4 }}
    {{- with .Values.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if not .Values.existingConfigMap }}
  annotations: {checksum/config: {{ include "seriesgate.config" . | sha256sum }}}   # another configuration is a roll-out
  {{- end }}
spec:
  serviceAccountName: {{ include "seriesgate.name" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.pod }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if .Values.shared }}
  topologySpreadConstraints:
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "seriesgate.selector" $ | nindent 10 }}
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001                # so that the gate can write to the volume, and read the secret
    {{- if not .Values.shared }}
    fsGroupChangePolicy: OnRootMismatch
    {{- end }}
    seccompProfile: {type: RuntimeDefault}
  containers:
    - name: seriesgate
      image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [--config.file=/etc/seriesgate/seriesgate.yaml]
      ports:
        - {name: write, containerPort: 9201}
        - {name: admin, containerPort: 9202}
      # One gate serves when its state is loaded, which takes a while with 100 million series. It is ready when it knows the store's
      # address. A gate without its Valkey is ready.
      startupProbe: {httpGet: {path: /-/healthy, port: admin{{ if eq .Values.scheme "HTTPS" }}, scheme: HTTPS{{ end }}}, periodSeconds: 1, failureThreshold: {{ ternary 60 180 (not (empty .Values.shared)) }}}
      readinessProbe: {httpGet: {path: /-/ready, port: admin{{ if eq .Values.scheme "HTTPS" }}, scheme: HTTPS{{ end }}}, periodSeconds: 2, failureThreshold: 2}
      livenessProbe: {httpGet: {path: /-/healthy, port: admin{{ if eq .Values.scheme "HTTPS" }}, scheme: HTTPS{{ end }}}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}
      {{- if .Values.shared }}
      # New connections go elsewhere by the time that the gate stops listening.
      lifecycle: {preStop: {sleep: {seconds: 5}}}
      {{- end }}
      resources: {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: configuration, mountPath: /etc/seriesgate, readOnly: true}
        {{- if .Values.existingSecret }}
        - {name: secret, mountPath: /etc/seriesgate-secret, readOnly: true}
        {{- end }}
        {{- if not .Values.shared }}
        - {name: state, mountPath: /var/lib/seriesgate}
        {{- end }}
  volumes:
    - {name: configuration, configMap: {name: {{ .Values.existingConfigMap | default (include "seriesgate.name" .) | quote }}}}
    {{- if .Values.existingSecret }}
    - {name: secret, secret: {secretName: {{ .Values.existingSecret | quote }}, defaultMode: 0440}}
    {{- end }}
{{- end }}
