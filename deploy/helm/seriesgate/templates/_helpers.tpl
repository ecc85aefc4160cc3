{{/* The name of everything. It has seriesgate in it: the alerts look for jobs of that name. A StatefulSet has at most 52 characters. */}}
{{- define "seriesgate.name" -}}
{{- if and (contains "seriesgate" .Release.Name) (le (len .Release.Name) 52) }}{{ .Release.Name }}{{ else }}{{ .Release.Name | trunc 41 | trimSuffix "-" }}-seriesgate{{ end }}
{{- end }}

{{/* What selects the pods. It must never change. */}}
{{- define "seriesgate.selector" -}}
app.kubernetes.io/name: seriesgate
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* Of all objects but the Service of pods, which a ServiceMonitor must not find. */}}
{{- define "seriesgate.labels" -}}
{{ include "seriesgate.selector" . }}
{{ include "seriesgate.chart-labels" . }}
{{- end }}

{{- define "seriesgate.chart-labels" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* seriesgate.yaml: `config`, and what has to fit the rest of the chart. */}}
{{- define "seriesgate.config" -}}
{{- $upstream := .Values.config.upstream | default dict }}
{{- if not (or $upstream.url $upstream.urls) }}
{{- fail "config.upstream.url: the store is missing, such as http://victoria-metrics:8428/api/v1/write" }}
{{- end }}
{{- $ours := dict "listen" "0.0.0.0:9201" "admin" (dict "listen" "0.0.0.0:9202") }}
{{- if .Values.shared }}
{{- $_ := set $ours "fingerprint" (dict "secretFile" "/etc/seriesgate-secret/fingerprint") }}
{{- $_ := set $ours "shared" .Values.shared }}
{{- else }}
{{- $_ := set $ours "state" (dict "dir" "/var/lib/seriesgate/state") }}
{{- end }}
{{- /* An empty url would stand beside urls. */}}
{{- $theirs := deepCopy .Values.config }}
{{- if not $upstream.url }}
{{- $_ := unset $theirs.upstream "url" }}
{{- end }}
{{- mergeOverwrite $theirs $ours | toYaml }}
{{- end }}

{{/* What would install, and not run. */}}
{{- define "seriesgate.check" -}}
{{- if and .Values.shared (not .Values.existingSecret) }}
{{- fail "existingSecret: gates of a fleet need a Secret with the file fingerprint (head -c 32 /dev/urandom >fingerprint)" }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.shared) }}
{{- fail "replicas: more than one gate needs `shared`, else each admits up to the limits" }}
{{- end }}
{{- if and .Values.config.shared (not .Values.existingConfigMap) }}
{{- fail "config.shared: write it as `shared`, which also makes the gates a fleet" }}
{{- end }}
{{- end }}
