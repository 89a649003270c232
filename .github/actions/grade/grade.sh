#!/usr/bin/env bash
# The last step of action.yml, whose inputs are variables. The first grading prints the report; the
# others have its seed, so they only write its score in other forms.
set -euo pipefail
shopt -s nullglob
course=${COURSE:-$GITHUB_ACTION_PATH/../../..}
work=$(mktemp -d "$RUNNER_TEMP/grade.XXXXXX")

send_result() { echo "result=$(base64 -w0 "$work/result.json")" >> "$GITHUB_OUTPUT"; }
stop() { echo "::error title=$EXERCISE::$1"; exit "$2"; }

[[ $EXERCISE =~ ^[A-Za-z0-9_-]+$ ]] || stop "the exercise is not an id" 2
[ -d "$course/exercises/$EXERCISE" ] || stop "the course has no exercise $EXERCISE" 2

if [ -n "$FILE" ]; then
    files=("$FOLDER/$FILE")
elif [ -f "$FOLDER/$EXERCISE.cu" ]; then
    files=("$FOLDER/$EXERCISE.cu")
else
    files=("$FOLDER"/*.cu)
fi
if [ "${#files[@]}" -ne 1 ] || [ ! -f "${files[0]}" ]; then
    message="hand in $EXERCISE.cu"
    printf '{"version": 1, "status": "fail", "max_score": %s, "tests": [{"name": "one .cu file", "status": "fail", "score": 0, "message": "%s", "test_code": "", "filename": "", "line_no": 0, "duration": 0}]}' \
        "$POINTS" "$message" > "$work/result.json"
    send_result
    if [ "$FAIL" = true ]; then stop "$message" 1; fi
    echo "::error title=$EXERCISE::$message"
    exit 0
fi

if [ -n "$SPEC" ]; then
    for part in exercises starter solutions; do
        if [ -d "$course/$part" ]; then cp -r "$course/$part" "$work/"; fi
    done
    course=$work
    printf '%s' "$SPEC" > "$course/exercises/$EXERCISE/spec.json"
fi

seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
options=(--device emulated --seed "$seed")
if [ -n "$PENDING" ]; then options+=(--pending "$PENDING"); fi
code=0
grade_it() { grade "$course/exercises/$EXERCISE" "${files[0]}" "${options[@]}" "$@"; }
write_as() { grade_it --format "$1" -o "$2" > "$work/log.txt" 2>&1 || [ $? -eq 1 ]; }

# The report quotes the student's text: it must not give commands to the runner.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
grade_it --json "$work/score.json" || code=$?
echo "::$token::"
if [ "$code" -gt 1 ]; then stop "the grading failed with exit code $code; this is no zero" "$code"; fi

write_as markdown "$work/summary.md"
cat "$work/summary.md" >> "$GITHUB_STEP_SUMMARY"
write_as gcc "$work/marks.txt"
folder=$(dirname "${files[0]#./}")
prefix=$([ "$folder" = . ] || printf '%s/' "${folder#./}")
prefix=${prefix#"${GITHUB_WORKSPACE:-/}"/}
sed -nE -e 's/%/%25/g' -e 's/: note: /: notice: /' \
    -e "s|^([^:]+):([0-9]+):1: (error\|warning\|notice): (.*)\$|::\3 file=$prefix\1,line=\2::\4|p" "$work/marks.txt"
if write_as github "$work/result.json" && [ -s "$work/result.json" ]; then send_result; fi
python3 -c 'import json, sys
score = json.load(open(sys.argv[1]))
print("status=" + score["status"], f"points={score['"'"'score'"'"']:g}", sep="\n")' "$work/score.json" >> "$GITHUB_OUTPUT"
if [ "$FAIL" = true ]; then exit "$code"; fi
