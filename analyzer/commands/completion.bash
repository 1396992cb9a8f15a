# Completion of plumb for bash. Commands and options are asked of plumb itself, so that this cannot fall behind.

_plumb_words() { # the first words of the lines of a help text that look like $1
    "${COMP_WORDS[0]}" "${@:2}" --help 2>/dev/null | grep -oE -- "$1" | sort -u
}

_plumb() {
    local current=${COMP_WORDS[COMP_CWORD]} command='' at word
    COMPREPLY=()
    for ((at = 1; at < COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        if [[ $word == -- ]]; then # behind it stands a command of the user's
            if ((COMP_CWORD == at + 1)); then
                mapfile -t COMPREPLY < <(compgen -c -- "$current")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
            fi
            return
        fi
        [[ -z $command && $word != -* ]] && command=$word
    done
    if [[ -z $command && $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_plumb_words '^  [a-z]+' | tr -d ' ')" -- "$current")
    elif [[ $current == -* ]]; then
        # shellcheck disable=SC2086
        mapfile -t COMPREPLY < <(compgen -W "$(_plumb_words '(^|[ ,])--?[a-zA-Z][a-z-]*' $command | tr -d ' ,') --" -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

complete -o filenames -F _plumb plumb
