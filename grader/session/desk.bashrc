# bash in a lab's shell (`grader shell`). Read instead of ~/.bashrc: the same for every learner.

[[ $- == *i* ]] || return

HISTSIZE=10000
HISTCONTROL=ignoredups
shopt -s checkwinsize histappend

alias k=kubectl
alias ls='ls --color=auto'
alias grep='grep --color=auto'

# The prompt says which lab this is, in colour where there is any, and the exit code of what failed.
__desk_prompt() {
  local code=$?
  local bold='' plain=''
  if [[ -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
    bold='\[\e[1m\]' plain='\[\e[0m\]'
  fi
  PS1="(${bold}${BATCHLAB_INSIDE:-lab}${plain}) \\w "
  ((code == 0)) || PS1+="[$code] "
  PS1+='\$ '
}
PROMPT_COMMAND=__desk_prompt

# Completion is loaded at the first TAB: asking both programs for their scripts takes longer than opening
# the shell. 124 tells bash to look again for how to complete.
if ! declare -F _get_comp_words_by_ref >/dev/null; then
  [[ -r /usr/share/bash-completion/bash_completion ]] && . /usr/share/bash-completion/bash_completion
fi
if ! declare -F _get_comp_words_by_ref >/dev/null; then
  # kubectl's script expects these two of the bash-completion package, which may not be installed. Without
  # `=` and `:` as word breaks, words are what bash says they are, and there is nothing to mend.
  COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]/}
  _get_comp_words_by_ref() {
    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
  }
  __ltrim_colon_completions() { :; }
fi
__desk_complete_kubectl() {
  . <(kubectl completion bash 2>/dev/null)
  declare -F __start_kubectl >/dev/null || { complete -r kubectl k; return 1; }
  complete -o default -F __start_kubectl k
  return 124
}
complete -o default -F __desk_complete_kubectl kubectl k
__desk_complete_grader() {
  . <(grader completion bash 2>/dev/null)
  declare -F _grader_completion >/dev/null || { complete -r grader; return 1; }
  return 124
}
complete -o default -F __desk_complete_grader grader
