#!/bin/bash
# The files for operators say what they are to say: deploy.sh SOURCE_DIRECTORY RUBATO. 77 where systemd is not there.
set -u
examples=$1/examples rubato=$2
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
faults=0
fault() {
  echo "$1"
  faults=$((faults + 1))
}

# A pod mounts the secret key of its own name, and no volume else has secret keys.
pods=$examples/cluster/kubernetes.yaml
mounts=$(grep -c 'name: secret-keys, mountPath' "$pods")
[ "$mounts" -eq 1 ] || fault "kubernetes.yaml mounts secret keys $mounts times"
grep -q 'name: secret-keys, mountPath: [^,]*, subPathExpr: $(POD_NAME).secret, readOnly: true' "$pods" ||
  fault "kubernetes.yaml does not mount the key of the pod's own name alone"
[ "$(grep -c 'secretName:' "$pods")" -eq 1 ] || fault "kubernetes.yaml has another volume with secrets"

# Every option that the files use is one of the command's.
for file in "$pods" "$examples/deploy/rubato-node@.service" "$examples/deploy/Containerfile"; do
  grep -oE 'rubato node .*|"node".*' "$file" | grep -oE -- '--[a-z-]+' | sort -u | while read -r option; do
    "$rubato" node --help | grep -q -- "$option" || echo "$(basename "$file") uses $option"
  done
done > "$home/unknown"
[ ! -s "$home/unknown" ] || fault "options that rubato node does not know: $(cat "$home/unknown")"

[ $faults -eq 0 ] || exit 1
command -v systemd-analyze > /dev/null || exit 77
sed "s#/usr/bin/rubato #$rubato #; /^Documentation=/d" "$examples/deploy/rubato-node@.service" > "$home/rubato-node@a.service"
said=$(systemd-analyze verify --man=no "$home/rubato-node@a.service" 2>&1) || fault "systemd-analyze verify fails"
said=$(grep -F rubato-node <<< "$said")
[ -z "$said" ] || fault "systemd-analyze says: $said"
exit $((faults > 0))
